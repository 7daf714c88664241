#include "daemon/control/executor_supervisor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/control/limits.h"
#include "daemon/control/log.h"

namespace gpuos::control {
namespace {

std::string Sentence(const absl::Status& status) { return std::string(status.message()); }

absl::Status Stopping() {
  return absl::UnavailableError("gpuosd is stopping; connect again once it has been started");
}

}  // namespace

ExecutorSupervisor::ExecutorSupervisor(Options options) : options_(std::move(options)) {
  absl::MutexLock lock(&mutex_);
  *status_.mutable_device() = options_.device;
  status_.set_state(v1::EXECUTOR_STATE_STARTING);
  status_.set_residence(options_.residence);
}

ExecutorSupervisor::~ExecutorSupervisor() { Stop(); }

void ExecutorSupervisor::Start() {
  absl::MutexLock lock(&join_mutex_);
  thread_ = std::thread([this] { Run(); });
}

void ExecutorSupervisor::Drain() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
}

void ExecutorSupervisor::KillNow() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
  stopping_ = true;
  if (link_ != nullptr) link_->Kill("gpuosd was told to stop at once");
}

void ExecutorSupervisor::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    stopping_ = true;
    // Nothing runs on one that is not ready; waiting for its start would take too long.
    if (link_ != nullptr && status_.state() != v1::EXECUTOR_STATE_READY) {
      link_->Kill("gpuosd is stopping");
    }
  }
  absl::MutexLock lock(&join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void ExecutorSupervisor::Call(v1::ExecutorRequest request, SharedFd descriptor, Reply reply) {
  Held call = {std::move(request), std::move(descriptor), std::move(reply)};
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    status = absl::UnavailableError("");
    if (status_.state() == v1::EXECUTOR_STATE_READY && !lost_ && !draining_) {
      status = link_->Call(call.request, call.descriptor, call.reply);
    }
    if (absl::IsUnavailable(status)) status = Hold(call);
  }
  if (!status.ok()) call.reply(status);
}

absl::Status ExecutorSupervisor::Hold(Held& held) {
  if (draining_) return Stopping();
  if (!start_failure_.ok()) return start_failure_;
  if (held.request.has_status()) {
    return absl::UnavailableError(
        absl::StrCat("the executor of ", options_.device.name(), " is being started"));
  }
  if (held_.size() >= kMaxHeldRequests) {
    return absl::UnavailableError(absl::StrCat("the executor of ", options_.device.name(),
                                               " is being replaced and ", held_.size(),
                                               " requests wait for it; try again"));
  }
  held_.push_back(std::move(held));
  return absl::OkStatus();
}

absl::Status ExecutorSupervisor::CheckReady() const {
  absl::MutexLock lock(&mutex_);
  if (draining_) return Stopping();
  if (status_.state() == v1::EXECUTOR_STATE_READY && !lost_) return absl::OkStatus();
  if (!start_failure_.ok()) return start_failure_;
  return absl::UnavailableError(absl::StrCat(
      "the executor of ", options_.device.name(), " is being ",
      status_.state() == v1::EXECUTOR_STATE_STARTING ? "started" : "replaced", "; try again soon"));
}

v1::DeviceStatus ExecutorSupervisor::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

std::vector<v1::OperatorInfo> ExecutorSupervisor::operators() const {
  absl::MutexLock lock(&mutex_);
  return operators_;
}

void ExecutorSupervisor::NoteCounters(const v1::ExecutorCounters& counters) {
  absl::MutexLock lock(&mutex_);
  *status_.mutable_counters() = counters;
}

void ExecutorSupervisor::Run() {
  while (!stopping()) {
    const absl::Duration ready = RunOne();
    if (!stopping()) WaitBeforeRestart(ready);
  }
  EndForGood();
}

absl::Duration ExecutorSupervisor::RunOne() {
  absl::StatusOr<std::unique_ptr<ExecutorLink>> link = Launch();
  if (!link.ok()) {
    NoteLoss(Sentence(link.status()));
    FailStart(link.status());
    return absl::ZeroDuration();
  }
  absl::Time ready = absl::InfiniteFuture();
  const absl::Status up = BringUp(link->get());
  if (up.ok()) {
    ready = absl::Now();
    BecomeReady(link->get());
    Watch(link->get());
    if (stopping()) (*link)->Stop(options_.stop_timeout);
  }
  {
    absl::MutexLock lock(&mutex_);
    link_ = nullptr;
  }
  // A link that closed under a call says nothing of the cause; how the process ended does.
  const bool ended = absl::IsUnavailable(up) && (*link)->AwaitEnd();
  if (!up.ok() && !ended) (*link)->Kill(Sentence(up));
  link->reset();
  if (!up.ok()) FailStart(up);
  return std::max(absl::Now() - ready, absl::ZeroDuration());
}

absl::StatusOr<std::unique_ptr<ExecutorLink>> ExecutorSupervisor::Launch() {
  {
    absl::MutexLock lock(&mutex_);
    lost_ = false;
  }
  absl::StatusOr<std::unique_ptr<ExecutorLink>> link =
      ExecutorLink::Start({.device = options_.device.name(),
                           .program = options_.program,
                           .arguments = options_.arguments,
                           .on_lost = [this](const std::string& why) { NoteLoss(why); }});
  if (!link.ok()) return link.status();
  absl::MutexLock lock(&mutex_);
  link_ = link->get();
  status_.set_executor_pid(link_->pid());
  status_.clear_counters();
  if (stopping_) link_->Kill("gpuosd is stopping");
  return link;
}

absl::Status ExecutorSupervisor::BringUp(ExecutorLink* link) {
  const SyncCall call = [this, link](v1::ExecutorRequest request, const SharedFd& descriptor) {
    return link->CallAndWait(std::move(request), descriptor, options_.start_timeout);
  };
  v1::ExecutorRequest start;
  start.mutable_start()->set_residence(options_.residence);
  absl::StatusOr<v1::ExecutorResponse> started = call(std::move(start), nullptr);
  if (!started.ok()) return started.status();
  v1::ExecutorRequest ping;
  ping.mutable_ping();
  absl::StatusOr<v1::ExecutorResponse> pinged = call(std::move(ping), nullptr);
  if (!pinged.ok()) return pinged.status();
  if (options_.restore) options_.restore(call);

  absl::MutexLock lock(&mutex_);
  const v1::StartResponse& response = started->start();
  // Discovery's name stays: it is what sessions name.
  *status_.mutable_device() = response.device();
  status_.mutable_device()->set_name(options_.device.name());
  status_.set_sharing(response.sharing());
  status_.set_remark(response.remark());
  operators_.assign(response.operators().begin(), response.operators().end());
  return absl::OkStatus();
}

void ExecutorSupervisor::BecomeReady(ExecutorLink* link) {
  std::vector<std::pair<Reply, absl::Status>> failed;
  {
    absl::MutexLock lock(&mutex_);
    answered_ = absl::Now();
    start_failure_ = absl::OkStatus();
    if (!lost_) {
      // Under the lock, so that what comes next stays behind.
      while (!held_.empty()) {
        Held& held = held_.front();
        absl::Status status = link->Call(held.request, held.descriptor, held.reply);
        if (absl::IsUnavailable(status)) break;
        if (!status.ok()) failed.emplace_back(std::move(held.reply), std::move(status));
        held_.pop_front();
      }
      status_.set_state(v1::EXECUTOR_STATE_READY);
    }
  }
  for (auto& [reply, status] : failed) reply(status);
  LogInfo(options_.device.name(), ": executor ", link->pid(), " is ready");
  Changed();
}

void ExecutorSupervisor::Watch(ExecutorLink* link) {
  for (;;) {
    bool hangs = false;
    {
      absl::MutexLock lock(&mutex_);
      const auto ended = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return lost_ || stopping_; };
      if (mutex_.AwaitWithTimeout(absl::Condition(&ended), options_.ask_period)) return;
      hangs = absl::Now() - answered_ > options_.hang_timeout;
    }
    if (hangs) {
      link->Kill(absl::StrCat("it did not answer for ", absl::FormatDuration(options_.hang_timeout),
                              " and was killed"));
    } else {
      AskStatus(link);
    }
  }
}

void ExecutorSupervisor::AskStatus(ExecutorLink* link) {
  v1::ExecutorRequest request;
  request.mutable_status();
  ExecutorClient::Reply reply = [this](absl::StatusOr<v1::ExecutorResponse> response) {
    if (!response.ok()) return;
    absl::MutexLock lock(&mutex_);
    answered_ = absl::Now();
    *status_.mutable_counters() = response->status().counters();
  };
  // A link that takes no more is lost, which Watch sees, or full, which the hang timeout ends.
  link->Call(request, nullptr, reply).IgnoreError();
}

void ExecutorSupervisor::NoteLoss(const std::string& why) {
  {
    absl::MutexLock lock(&mutex_);
    lost_ = true;
    status_.set_executor_pid(0);
    if (stopping_) return;
    status_.set_state(v1::EXECUTOR_STATE_REPLACING);
    status_.set_last_failure(why);
    status_.set_executor_restarts(status_.executor_restarts() + 1);
  }
  LogError(options_.device.name(), ": the executor was lost: ", why);
  Changed();
}

void ExecutorSupervisor::FailStart(const absl::Status& status) {
  absl::Status failure;
  {
    absl::MutexLock lock(&mutex_);
    start_failure_ = absl::UnavailableError(absl::StrCat(
        "the executor of ", options_.device.name(), " cannot be started: ", status.message(),
        "; gpuosd tries again by itself, see its log"));
    failure = start_failure_;
  }
  AnswerHeld(failure);
}

void ExecutorSupervisor::WaitBeforeRestart(absl::Duration ready) {
  const absl::Duration wait = backoff_.Next(ready);
  if (wait > absl::ZeroDuration()) {
    LogInfo(options_.device.name(), ": starting a new executor in ", absl::FormatDuration(wait));
  }
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&stopping_), wait);
}

void ExecutorSupervisor::EndForGood() {
  {
    absl::MutexLock lock(&mutex_);
    status_.set_state(v1::EXECUTOR_STATE_STOPPED);
  }
  AnswerHeld(Stopping());
  Changed();
}

void ExecutorSupervisor::AnswerHeld(const absl::Status& status) {
  std::deque<Held> held;
  {
    absl::MutexLock lock(&mutex_);
    held.swap(held_);
  }
  for (Held& call : held) call.reply(status);
}

bool ExecutorSupervisor::stopping() const {
  absl::MutexLock lock(&mutex_);
  return stopping_;
}

void ExecutorSupervisor::Changed() const {
  if (options_.on_change) options_.on_change();
}

}  // namespace gpuos::control
