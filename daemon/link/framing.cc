#include "daemon/link/framing.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace gpuos::link {
namespace {

// How soon a sender looks again whether the thread that was receiving has stopped doing so.
constexpr int kLookAgainMs = 20;
// poll() counts in int milliseconds; longer waits are taken in pieces.
constexpr absl::Duration kLongestPoll = absl::Hours(1);

int PollMilliseconds(absl::Duration left) {
  if (left <= absl::ZeroDuration()) return 0;
  return static_cast<int>(
      absl::ToInt64Milliseconds(absl::Ceil(std::min(left, kLongestPoll), absl::Milliseconds(1))));
}

// Waits until one of `events`, the end of the link or the time. Errors of the link show in the read
// or write that follows. Returns what happened.
short Wait(int fd, int events, int timeout_ms) {
  pollfd entry{.fd = fd, .events = static_cast<short>(events), .revents = 0};
  if (::poll(&entry, 1, timeout_ms) <= 0) return 0;
  return entry.revents;
}

absl::Status TooMuch(absl::string_view what) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, " exceed ", Channel::kMaxKeptBytes, " bytes"));
}

}  // namespace

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("making a socket pair failed: ", std::strerror(errno)));
  }
  return std::make_pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

absl::Status Channel::Send(const google::protobuf::MessageLite& message, int fd) {
  UniqueFd copy;
  if (fd >= 0) {
    copy.reset(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!copy.valid()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("copying descriptor ", fd, " failed: ", std::strerror(errno)));
    }
  }
  std::uint64_t number = 0;
  {
    absl::MutexLock lock(&write_mutex_);
    const absl::StatusOr<std::uint64_t> pushed = writer_.Push(message, std::move(copy));
    if (!pushed.ok()) return pushed.status();
    number = *pushed;
  }
  for (;;) {
    const absl::StatusOr<bool> gone = FlushUpTo(number);
    if (!gone.ok()) return gone.status();
    if (*gone) return absl::OkStatus();
    if (absl::Status status = WaitForRoom(); !status.ok()) return status;
  }
}

absl::StatusOr<bool> Channel::FlushUpTo(std::uint64_t number) {
  absl::MutexLock lock(&write_mutex_);
  const absl::Status status = writer_.Flush();
  if (writer_.sent() >= number) return true;
  if (!status.ok()) return status;
  return false;
}

absl::Status Channel::WaitForRoom() {
  if (!read_mutex_.TryLock()) {
    Wait(fd(), POLLOUT, kLookAgainMs);
    return absl::OkStatus();
  }
  absl::Status status;
  if ((Wait(fd(), POLLOUT | POLLIN, kLookAgainMs) & POLLIN) != 0) status = KeepIncoming();
  read_mutex_.Unlock();
  return status;
}

absl::Status Channel::Post(const google::protobuf::MessageLite& message, UniqueFd fd) {
  absl::MutexLock lock(&write_mutex_);
  if (writer_.queued_bytes() > kMaxKeptBytes)
    return TooMuch("messages that the peer does not read");
  const absl::StatusOr<std::uint64_t> pushed = writer_.Push(message, std::move(fd));
  if (!pushed.ok()) return pushed.status();
  return writer_.Flush();
}

absl::Status Channel::Flush() {
  absl::MutexLock lock(&write_mutex_);
  return writer_.Flush();
}

bool Channel::wants_write() const {
  absl::MutexLock lock(&write_mutex_);
  return !writer_.empty();
}

absl::StatusOr<Received> Channel::Receive(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  absl::MutexLock lock(&read_mutex_);
  for (;;) {
    absl::StatusOr<std::optional<Received>> next = Next();
    if (!next.ok()) return next.status();
    if (next->has_value()) return *std::move(*next);
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(
          absl::StrCat("the peer sent nothing within ", absl::FormatDuration(timeout)));
    }
    const bool writes = wants_write();
    Wait(fd(), writes ? POLLIN | POLLOUT : POLLIN, PollMilliseconds(left));
    // An error of writing is not one of receiving: what the peer sent before it closed comes first.
    if (writes) Flush().IgnoreError();
  }
}

absl::StatusOr<std::optional<Received>> Channel::TryReceive() {
  absl::MutexLock lock(&read_mutex_);
  return Next();
}

absl::StatusOr<std::optional<Received>> Channel::Next() {
  if (std::optional<Received> kept = TakeKept(); kept.has_value()) return kept;
  return reader_.TryRead();
}

std::optional<Received> Channel::TakeKept() {
  if (kept_.empty()) return std::nullopt;
  std::optional<Received> first(std::move(kept_.front()));
  kept_.pop_front();
  kept_bytes_ -= first->bytes.size();
  return first;
}

absl::Status Channel::KeepIncoming() {
  for (;;) {
    if (kept_bytes_ > kMaxKeptBytes) return TooMuch("messages that nobody received");
    absl::StatusOr<std::optional<Received>> next = reader_.TryRead();
    if (!next.ok()) return next.status();
    if (!next->has_value()) return absl::OkStatus();
    kept_bytes_ += (*next)->bytes.size();
    kept_.push_back(*std::move(*next));
  }
}

void Channel::Shutdown() { ::shutdown(fd(), SHUT_RDWR); }

}  // namespace gpuos::link
