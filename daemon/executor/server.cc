#include "daemon/executor/server.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/executor/pause.h"
#include "gpuos/v1/executor.pb.h"
#include "spdlog/spdlog.h"

namespace gpuos::executor {
namespace {

// So many batches are taken before the core is stepped, so that completions do not wait long. After
// any other request, which may take longer, it is stepped at once.
constexpr int kBatchesPerStep = 64;
// What is left of the answers is written for so long before the process ends.
constexpr std::chrono::milliseconds kFarewell(1000);

Time Now() { return std::chrono::steady_clock::now(); }

timespec ToTimespec(Duration duration) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {.tv_sec = duration.count() / kNanoseconds, .tv_nsec = duration.count() % kNanoseconds};
}

}  // namespace

absl::Status Server::Run() {
  last_work_ = Now();
  for (;;) {
    const Time now = Now();
    const bool received = TakeRequests(now);
    const bool worked = StepCore(now);
    if (!health_.ok()) {
      SayGoodbye();
      return health_;
    }
    if (core_.stopped() && !(link_open_ && link_.wants_write())) return end_;
    if (received || worked) {
      last_work_ = now;
    } else {
      Sleep(now);
    }
  }
}

bool Server::TakeRequests(Time now) {
  for (int taken = 0; taken < kBatchesPerStep; ++taken) {
    if (!link_open_) return taken > 0;
    absl::StatusOr<std::optional<link::Received>> received = link_.TryReceive();
    if (!received.ok()) {
      LoseLink(received.status());
      return true;
    }
    if (!received->has_value()) return taken > 0;
    if (!HandleReceived(**received, now)) return true;
  }
  return true;
}

bool Server::HandleReceived(const link::Received& received, Time now) {
  v1::ExecutorRequest request;
  if (absl::Status parsed = link::Parse(received, request); !parsed.ok()) {
    LoseLink(parsed);
    return false;
  }
  if (received.descriptor_lost) {
    Send(RequestHandler::ToResponse(
        {.ticket = request.id(),
         .status = absl::ResourceExhaustedError(
             "the executor has as many descriptors open as it may; release segments, or raise "
             "LimitNOFILE")}));
    return true;
  }
  if (const auto response = handler_.Handle(request, received.fd.get(), now)) Send(*response);
  return request.has_run_batch();
}

bool Server::StepCore(Time now) {
  Core::StepResult step = core_.Step(now);
  for (const Finished& finished : step.finished) Send(RequestHandler::ToResponse(finished));
  health_ = std::move(step.health);
  return step.worked || !step.finished.empty();
}

void Server::Send(const google::protobuf::MessageLite& message) {
  if (!link_open_) return;
  if (absl::Status posted = link_.Post(message); !posted.ok()) LoseLink(posted);
}

void Server::SayGoodbye() {
  spdlog::error("device lost: {}", std::string(health_.message()));
  Send(RequestHandler::MakeGoodbye(health_));
  const Time deadline = Now() + kFarewell;
  while (link_open_ && link_.wants_write() && Now() < deadline) {
    pollfd writable{.fd = link_.fd(), .events = POLLOUT, .revents = 0};
    ::poll(&writable, 1, static_cast<int>(kFarewell.count()));
    if (!link_.Flush().ok()) return;
  }
}

void Server::LoseLink(const absl::Status& why) {
  link_open_ = false;
  if (absl::IsUnavailable(why)) {
    spdlog::info("the link has closed; parking the worker");
  } else {
    spdlog::error("giving up the link: {}", std::string(why.message()));
    end_ = absl::DataLossError(why.message());
    link_.Shutdown();
  }
  // Without a ticket it cannot be refused.
  core_.Stop(std::nullopt).IgnoreError();
}

void Server::Sleep(Time now) {
  PauseInput input{.awaiting = core_.awaiting(),
                   .resident = !core_.parked(),
                   .device_signals = completion_descriptor_ >= 0,
                   .idle = now - last_work_,
                   .until_wake = std::nullopt};
  if (const std::optional<Time> wake = core_.wake_at()) input.until_wake = *wake - now;
  const std::optional<Duration> pause = PauseBeforeNextLook(input);

  // poll() passes over negative descriptors.
  pollfd watched[2] = {{.fd = link_open_ ? link_.fd() : -1, .events = POLLIN, .revents = 0},
                       {.fd = completion_descriptor_, .events = POLLIN, .revents = 0}};
  if (link_open_ && link_.wants_write()) watched[0].events |= POLLOUT;
  const timespec timeout = ToTimespec(pause.value_or(Duration(0)));
  ::ppoll(watched, 2, pause ? &timeout : nullptr, nullptr);

  if (watched[1].revents != 0) DrainCompletionDescriptor();
  if (link_open_ && (watched[0].revents & POLLOUT) != 0) {
    if (absl::Status flushed = link_.Flush(); !flushed.ok()) LoseLink(flushed);
  }
}

// Before the core looks at completions: what comes after makes the descriptor readable again.
void Server::DrainCompletionDescriptor() const {
  std::uint64_t count;
  while (::read(completion_descriptor_, &count, sizeof(count)) > 0) continue;
}

}  // namespace gpuos::executor
