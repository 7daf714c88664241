#include "daemon/control/stop_signal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::control {

absl::StatusOr<std::unique_ptr<StopSignal>> StopSignal::Create(int parent_fd) {
  if (parent_fd >= 0 && fcntl(parent_fd, F_SETFD, FD_CLOEXEC) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--parent-fd is ", parent_fd, ", which is not an open descriptor"));
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  link::UniqueFd taken(signalfd(-1, &signals, SFD_CLOEXEC));
  link::UniqueFd released(eventfd(0, EFD_CLOEXEC));
  if (!taken.valid() || !released.valid()) {
    return absl::ErrnoToStatus(errno, "cannot create a descriptor for signals");
  }
  return std::unique_ptr<StopSignal>(
      new StopSignal(std::move(taken), link::UniqueFd(parent_fd), std::move(released)));
}

StopSignal::StopSignal(link::UniqueFd signals, link::UniqueFd parent, link::UniqueFd released)
    : signals_(std::move(signals)), parent_(std::move(parent)), released_(std::move(released)) {}

std::string StopSignal::WaitForReason() {
  for (;;) {
    // A negative descriptor is skipped. The parent writes nothing: an event is the end of the pipe.
    pollfd waits[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                      {.fd = parent_.get(), .events = POLLIN, .revents = 0}};
    poll(waits, 2, -1);
    if (waits[0].revents != 0) return absl::StrCat("signal ", strsignal(TakeSignal()));
    if (waits[1].revents != 0) return "the parent has ended";
  }
}

bool StopSignal::WaitForSignalOrRelease() {
  for (;;) {
    pollfd waits[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                      {.fd = released_.get(), .events = POLLIN, .revents = 0}};
    poll(waits, 2, -1);
    if (waits[1].revents != 0) return false;
    if (waits[0].revents != 0) return TakeSignal() != 0;
  }
}

void StopSignal::Release() { eventfd_write(released_.get(), 1); }

int StopSignal::TakeSignal() {
  signalfd_siginfo info = {};
  if (read(signals_.get(), &info, sizeof(info)) != sizeof(info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace gpuos::control
