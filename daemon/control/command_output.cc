#include "daemon/control/command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/control/spawn.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{1} << 20;

// Reads until the other end closes.
absl::StatusOr<std::string> ReadAll(int pipe, absl::Time deadline) {
  std::string output;
  std::array<char, 4096> part;
  while (output.size() <= kMaxOutput) {
    const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
    pollfd readable = {.fd = pipe, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) == 0) {
      return absl::DeadlineExceededError("it did not end in time");
    }
    const ssize_t size = read(pipe, part.data(), part.size());
    if (size == 0) return output;
    if (size > 0) output.append(part.data(), static_cast<std::size_t>(size));
  }
  return absl::OutOfRangeError(absl::StrCat("it printed more than ", kMaxOutput, " bytes"));
}

}  // namespace

absl::StatusOr<std::string> CommandOutput(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          absl::Duration timeout) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot create a pipe");
  const link::UniqueFd reading(ends[0]);
  link::UniqueFd writing(ends[1]);
  absl::StatusOr<pid_t> pid =
      Spawn({.program = program, .arguments = arguments, .standard_output = writing.get()});
  if (!pid.ok()) return pid.status();
  writing.reset();
  absl::StatusOr<std::string> output = ReadAll(reading.get(), absl::Now() + timeout);
  if (!output.ok()) kill(*pid, SIGKILL);
  int status = 0;
  waitpid(*pid, &status, 0);
  const std::string call = absl::StrCat(program, " ", arguments.empty() ? "" : arguments[0]);
  if (!output.ok()) {
    return absl::Status(output.status().code(),
                        absl::StrCat(call, ": ", output.status().message()));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return absl::InternalError(absl::StrCat(call, " failed with wait status ", status));
}

}  // namespace gpuos::control
