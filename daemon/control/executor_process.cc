#include "daemon/control/executor_process.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/control/peer.h"
#include "daemon/control/spawn.h"

namespace gpuos::control {

absl::StatusOr<std::unique_ptr<ExecutorProcess>> ExecutorProcess::Start(
    const std::string& program, const std::vector<std::string>& arguments, link::UniqueFd link) {
  absl::StatusOr<pid_t> pid =
      Spawn({.program = program, .arguments = arguments, .descriptor3 = link.get()});
  if (!pid.ok()) return pid.status();
  // Our child is not reaped before we do, so its pid cannot be another's.
  absl::StatusOr<link::UniqueFd> pidfd = OpenPidfd(*pid);
  if (!pidfd.ok()) {
    kill(*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
    return pidfd.status();
  }
  return std::unique_ptr<ExecutorProcess>(new ExecutorProcess(*pid, *std::move(pidfd)));
}

ExecutorProcess::ExecutorProcess(pid_t pid, link::UniqueFd pidfd)
    : pid_(pid), pidfd_(std::move(pidfd)) {}

ExecutorProcess::~ExecutorProcess() {
  Kill();
  WaitForEnd(absl::InfiniteDuration());
}

bool ExecutorProcess::WaitForEnd(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  for (;;) {
    const absl::Duration left =
        std::clamp(deadline - absl::Now(), absl::ZeroDuration(), absl::Seconds(60));
    pollfd ended = {.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    const int count = poll(&ended, 1, static_cast<int>(absl::ToInt64Milliseconds(left)));
    if (count > 0) {
      absl::MutexLock lock(&mutex_);
      Reap();
      return true;
    }
    if (absl::Now() >= deadline) return false;
  }
}

void ExecutorProcess::Kill() {
  absl::MutexLock lock(&mutex_);
  // Once reaped the number may be another process's.
  if (!reaped_) kill(pid_, SIGKILL);
}

std::string ExecutorProcess::Ending() {
  absl::MutexLock lock(&mutex_);
  if (!reaped_) return "still runs";
  if (WIFSIGNALED(wait_status_)) {
    const int signal = WTERMSIG(wait_status_);
    return absl::StrCat("was killed by signal ", signal, " (", strsignal(signal), ")");
  }
  return absl::StrCat("exited with code ", WEXITSTATUS(wait_status_));
}

void ExecutorProcess::Reap() {
  if (reaped_) return;
  waitpid(pid_, &wait_status_, 0);
  reaped_ = true;
}

}  // namespace gpuos::control
