// For tests: a real gpuosd over a directory of its own.
#ifndef GPUOS_DAEMON_CONTROL_INTEGRATION_GPUOSD_PROCESS_H_
#define GPUOS_DAEMON_CONTROL_INTEGRATION_GPUOSD_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// A directory that goes with all that is in it, short enough for a socket's path. Its mode lets
// other users through.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A datagram socket that stands in for the service manager's.
class NotifySocket {
 public:
  // `name` is a path, or abstract with a leading '@'.
  explicit NotifySocket(const std::string& name);

  // Waits for a message that has `line` among its lines; false after `timeout`.
  bool WaitFor(const std::string& line, absl::Duration timeout = absl::Seconds(20));

 private:
  link::UniqueFd socket_;
};

// Killed, with its executors, when this goes. Thread-compatible. Waits end after 20 s.
class GpuosdProcess {
 public:
  struct Options {
    std::string socket;
    // With fault operators; real otherwise.
    bool test_executor = true;
    // The stand-in that runs nothing (fake_executor.cc).
    bool fake_executor = false;
    std::vector<std::string> flags;
    std::vector<std::string> environment;  // NAME=value, besides ours.
    std::string log_file;                  // Empty: our stderr.
  };

  explicit GpuosdProcess(const Options& options);
  ~GpuosdProcess();
  GpuosdProcess(const GpuosdProcess&) = delete;
  GpuosdProcess& operator=(const GpuosdProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  // Exit code, or minus the signal that ended it; nothing if it does not end.
  std::optional<int> WaitForExit();
  // SIGTERM, then WaitForExit.
  std::optional<int> Stop();

 private:
  pid_t pid_ = -1;
  std::optional<int> exit_;
};

// A file among the test's data, by its path below the workspace.
std::string Runfile(const std::string& path);

// Calls `condition` until it holds, a few seconds at most. Returns whether it does.
template <typename Condition>
bool Eventually(Condition condition, absl::Duration timeout = absl::Seconds(10)) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_INTEGRATION_GPUOSD_PROCESS_H_
