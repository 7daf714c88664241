// For tests: a gpuos-executor as a child process, with the other end of its link.
#ifndef GPUOS_DAEMON_EXECUTOR_EXECUTOR_PROCESS_H_
#define GPUOS_DAEMON_EXECUTOR_EXECUTOR_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/link/framing.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::executor {

// Killed and waited for when it is destroyed. Thread-compatible. Waits end after kPatience.
class ExecutorProcess {
 public:
  static constexpr absl::Duration kPatience = absl::Seconds(20);

  // Starts `binary` on host:0 with `flags` besides.
  ExecutorProcess(const std::string& binary, const std::vector<std::string>& flags);
  ~ExecutorProcess();
  ExecutorProcess(const ExecutorProcess&) = delete;
  ExecutorProcess& operator=(const ExecutorProcess&) = delete;

  pid_t pid() const { return pid_; }
  // This end of the link; gone after CloseLink.
  link::Channel& link() { return *link_; }
  void CloseLink() { link_.reset(); }

  // Sends a request, with a descriptor unless -1, under a fresh id, which it returns.
  std::uint64_t Send(v1::ExecutorRequest request, int descriptor = -1);
  // The next message of the executor.
  absl::StatusOr<v1::ExecutorResponse> Receive();
  // Sends and waits for the answer to this one; nothing else may be in flight.
  v1::ExecutorResponse Call(v1::ExecutorRequest request, int descriptor = -1);

  // Exit code, or minus the signal that ended it; nullopt if it does not end.
  std::optional<int> WaitForExit();

 private:
  pid_t pid_ = -1;
  std::optional<int> exit_;
  std::unique_ptr<link::Channel> link_;
  std::uint64_t next_id_ = 1;
};

// Runs a program to its end: exit code and what it wrote to stdout.
struct Ran {
  int exit_code = 0;
  std::string output;
};
Ran RunToEnd(const std::string& binary, const std::vector<std::string>& flags);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_EXECUTOR_PROCESS_H_
