#include "daemon/control/executor_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "daemon/control/log.h"
#include "daemon/link/frame_reader.h"
#include "daemon/link/status_codes.h"

namespace gpuos::control {
namespace {

// A process whose link has closed is about to end; one that is not is made to.
constexpr absl::Duration kEndAfterClose = absl::Seconds(2);

absl::StatusOr<link::UniqueFd> Duplicate(const SharedFd& descriptor) {
  if (descriptor == nullptr) return link::UniqueFd();
  link::UniqueFd copy(fcntl(descriptor->get(), F_DUPFD_CLOEXEC, 0));
  if (copy.valid()) return copy;
  return absl::ResourceExhaustedError("gpuosd has no descriptors left; raise its limit");
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExecutorLink>> ExecutorLink::Start(Options options) {
  auto sockets = link::MakeSocketPair();
  if (!sockets.ok()) return sockets.status();
  link::UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return absl::ErrnoToStatus(errno, "cannot create an eventfd");
  absl::StatusOr<std::unique_ptr<ExecutorProcess>> process =
      ExecutorProcess::Start(options.program, options.arguments, std::move(sockets->second));
  if (!process.ok()) return process.status();
  return std::unique_ptr<ExecutorLink>(new ExecutorLink(
      std::move(options), *std::move(process), std::move(sockets->first), std::move(wake)));
}

ExecutorLink::ExecutorLink(Options options, std::unique_ptr<ExecutorProcess> process,
                           link::UniqueFd socket, link::UniqueFd wake)
    : options_(std::move(options)),
      process_(std::move(process)),
      channel_(std::move(socket)),
      wake_(std::move(wake)),
      reader_([this] { Read(); }) {}

ExecutorLink::~ExecutorLink() {
  Kill("gpuosd let it go");
  channel_.Shutdown();
  reader_.join();
}

absl::Status ExecutorLink::Call(v1::ExecutorRequest& request, const SharedFd& descriptor,
                                ExecutorClient::Reply& reply) {
  absl::StatusOr<link::UniqueFd> copy = Duplicate(descriptor);
  if (!copy.ok()) return copy.status();
  std::uint64_t id = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (lost_) return absl::UnavailableError("the executor is lost");
    id = next_id_++;
    in_flight_[id] = std::move(reply);
  }
  request.set_id(id);
  absl::Status posted = channel_.Post(request, *std::move(copy));
  if (posted.ok() && channel_.wants_write()) eventfd_write(wake_.get(), 1);
  if (posted.ok()) return posted;

  absl::MutexLock lock(&mutex_);
  auto found = in_flight_.find(id);
  // The reader has seen the end in the meantime and answered it.
  if (found == in_flight_.end()) return absl::OkStatus();
  reply = std::move(found->second);
  in_flight_.erase(found);
  return posted;
}

absl::StatusOr<v1::ExecutorResponse> ExecutorLink::CallAndWait(v1::ExecutorRequest request,
                                                               const SharedFd& descriptor,
                                                               absl::Duration timeout) {
  struct Answer {
    absl::Notification arrived;
    absl::StatusOr<v1::ExecutorResponse> response;
  };
  // Shared: an answer may come after we have given up.
  auto answer = std::make_shared<Answer>();
  ExecutorClient::Reply reply = [answer](absl::StatusOr<v1::ExecutorResponse> response) {
    answer->response = std::move(response);
    answer->arrived.Notify();
  };
  if (absl::Status status = Call(request, descriptor, reply); !status.ok()) return status;
  if (!answer->arrived.WaitForNotificationWithTimeout(timeout)) {
    return absl::DeadlineExceededError(absl::StrCat("the executor of ", options_.device,
                                                    " did not answer within ",
                                                    absl::FormatDuration(timeout)));
  }
  return std::move(answer->response);
}

void ExecutorLink::Kill(const std::string& why) {
  // One that has ended by itself was not lost because of us.
  if (process_->WaitForEnd(absl::ZeroDuration())) return;
  NoteReason(why);
  process_->Kill();
}

bool ExecutorLink::AwaitEnd() { return process_->WaitForEnd(kEndAfterClose); }

bool ExecutorLink::Stop(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  v1::ExecutorRequest request;
  request.mutable_stop();
  const absl::StatusOr<v1::ExecutorResponse> answer =
      CallAndWait(std::move(request), nullptr, timeout);
  if (!answer.ok()) {
    LogWarning("stopping the executor of ", options_.device, ": ", answer.status().ToString());
  }
  if (process_->WaitForEnd(deadline - absl::Now())) return true;
  Kill("it did not stop in time");
  return false;
}

void ExecutorLink::Read() {
  absl::Status status;
  bool runs = true;
  while (status.ok() && runs) {
    runs = Wait();
    // What it said before it ended counts.
    status = ReceiveAll();
  }
  Lose(status);
}

bool ExecutorLink::Wait() {
  const auto events = static_cast<short>(channel_.wants_write() ? POLLIN | POLLOUT : POLLIN);
  pollfd waits[] = {{.fd = channel_.fd(), .events = events, .revents = 0},
                    {.fd = process_->pidfd(), .events = POLLIN, .revents = 0},
                    {.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  poll(waits, 3, -1);
  eventfd_t ignored;
  if (waits[2].revents != 0) eventfd_read(wake_.get(), &ignored);
  // An error shows again in the next read, behind what was said before it.
  channel_.Flush().IgnoreError();
  return waits[1].revents == 0;
}

absl::Status ExecutorLink::ReceiveAll() {
  for (;;) {
    absl::StatusOr<std::optional<link::Received>> received = channel_.TryReceive();
    if (!received.ok()) return received.status();
    if (!received->has_value()) return absl::OkStatus();
    v1::ExecutorResponse response;
    if (absl::Status status = link::Parse(**received, response); !status.ok()) return status;
    Deliver(std::move(response));
  }
}

void ExecutorLink::Deliver(v1::ExecutorResponse response) {
  if (response.has_goodbye()) return NoteReason(response.message());
  ExecutorClient::Reply reply;
  {
    absl::MutexLock lock(&mutex_);
    auto found = in_flight_.find(response.id());
    if (found == in_flight_.end()) return;
    reply = std::move(found->second);
    in_flight_.erase(found);
  }
  const absl::Status status = link::StatusOf(response);
  if (status.ok()) {
    reply(std::move(response));
  } else {
    reply(status);
  }
}

void ExecutorLink::NoteReason(const std::string& why) {
  absl::MutexLock lock(&mutex_);
  if (reason_.empty() && !lost_) reason_ = why;
}

void ExecutorLink::Lose(const absl::Status& link_status) {
  const std::string why = DescribeEnd(link_status);
  std::map<std::uint64_t, ExecutorClient::Reply> replies;
  {
    absl::MutexLock lock(&mutex_);
    lost_ = true;
    replies.swap(in_flight_);
  }
  for (auto& [id, reply] : replies) {
    reply(absl::AbortedError(absl::StrCat("the executor of ", options_.device, " was lost: ", why,
                                          "; what it was running is lost, send it again")));
  }
  if (options_.on_lost) options_.on_lost(why);
}

std::string ExecutorLink::DescribeEnd(const absl::Status& link_status) {
  channel_.Shutdown();
  if (absl::IsDataLoss(link_status)) NoteReason(std::string(link_status.message()));
  if (!process_->WaitForEnd(kEndAfterClose)) Kill("it closed its link and did not end");
  process_->WaitForEnd(absl::InfiniteDuration());
  absl::MutexLock lock(&mutex_);
  return reason_.empty() ? absl::StrCat("it ", process_->Ending()) : reason_;
}

}  // namespace gpuos::control
