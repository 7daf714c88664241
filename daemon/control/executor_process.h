// One gpuos-executor process.
#ifndef GPUOS_DAEMON_CONTROL_EXECUTOR_PROCESS_H_
#define GPUOS_DAEMON_CONTROL_EXECUTOR_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// A child process that speaks over descriptor 3. It inherits the environment and the standard
// streams, no other descriptor and no signal mask, and has a process group of its own, so that a
// Ctrl-C at the terminal reaches gpuosd only, which then stops it in order.
//
// Thread-safe. The destructor kills the child if it still runs, and reaps it: no zombie is left.
class ExecutorProcess {
 public:
  // Starts `program` with `arguments` (without argv[0]); `link` becomes its descriptor 3.
  // NOT_FOUND, PERMISSION_DENIED ... if it cannot be started, with its path.
  static absl::StatusOr<std::unique_ptr<ExecutorProcess>> Start(
      const std::string& program, const std::vector<std::string>& arguments, link::UniqueFd link);

  ExecutorProcess(const ExecutorProcess&) = delete;
  ExecutorProcess& operator=(const ExecutorProcess&) = delete;
  ~ExecutorProcess();

  pid_t pid() const { return pid_; }
  // Readable once it has ended; stays owned here.
  int pidfd() const { return pidfd_.get(); }

  // Blocks until it has ended, at most `timeout`. Returns whether it has.
  bool WaitForEnd(absl::Duration timeout);
  // SIGKILL. No effect once it has ended.
  void Kill();
  // How it ended: "exited with code 70", "was killed by signal 9 (Killed)"; "still runs" before.
  std::string Ending();

 private:
  ExecutorProcess(pid_t pid, link::UniqueFd pidfd);

  void Reap() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const pid_t pid_;
  const link::UniqueFd pidfd_;

  absl::Mutex mutex_;
  bool reaped_ ABSL_GUARDED_BY(mutex_) = false;
  int wait_status_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_EXECUTOR_PROCESS_H_
