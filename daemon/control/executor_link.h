// The life of one executor process: requests to it, its answers, its end.
#ifndef GPUOS_DAEMON_CONTROL_EXECUTOR_LINK_H_
#define GPUOS_DAEMON_CONTROL_EXECUTOR_LINK_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/control/executor_client.h"
#include "daemon/control/executor_process.h"
#include "daemon/link/framing.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {

// Starts the process, matches answers to requests by id on a reader thread, and notices the end:
// the link closes, or the process is gone. Then every request in flight is answered ABORTED with
// how the executor ended, and `on_lost` is called, once, last.
//
// Ownership: owns process and link; the destructor kills what still runs and joins the reader, so
// it must not run on it (in a reply). Thread-safe. Call does not block; CallAndWait and Stop do.
class ExecutorLink {
 public:
  struct Options {
    std::string device;  // For sentences.
    std::string program;
    std::vector<std::string> arguments;
    // Half a sentence: "it was killed by signal 9 (Killed)". Runs on the reader thread.
    std::function<void(const std::string& why)> on_lost;
  };

  static absl::StatusOr<std::unique_ptr<ExecutorLink>> Start(Options options);

  ExecutorLink(const ExecutorLink&) = delete;
  ExecutorLink& operator=(const ExecutorLink&) = delete;
  ~ExecutorLink();

  pid_t pid() const { return process_->pid(); }

  // Sends the request; `reply` then runs on the reader thread. If this fails, neither has been
  // touched: UNAVAILABLE if the executor is lost, INVALID_ARGUMENT or RESOURCE_EXHAUSTED if the
  // message cannot be sent.
  absl::Status Call(v1::ExecutorRequest& request, const SharedFd& descriptor,
                    ExecutorClient::Reply& reply);

  // The answer, or DEADLINE_EXCEEDED after `timeout`.
  absl::StatusOr<v1::ExecutorResponse> CallAndWait(v1::ExecutorRequest request,
                                                   const SharedFd& descriptor,
                                                   absl::Duration timeout);

  // Ends a process that does not behave; `why` is told as the way it was lost.
  void Kill(const std::string& why);

  // Waits a short while for a process whose link has closed to end by itself; whether it has.
  bool AwaitEnd();

  // Asks it to park its worker and end; kills it if it has not ended within `timeout`. Returns
  // whether it ended by itself.
  bool Stop(absl::Duration timeout);

 private:
  ExecutorLink(Options options, std::unique_ptr<ExecutorProcess> process, link::UniqueFd socket,
               link::UniqueFd wake);

  void Read();
  // Waits for something to read or room to write. Returns whether the process still runs.
  bool Wait();
  // Takes every message that has come; an error is the end of the link.
  absl::Status ReceiveAll();
  void Deliver(v1::ExecutorResponse response);
  void NoteReason(const std::string& why);
  // Answers everything and tells the owner.
  void Lose(const absl::Status& link_status);
  std::string DescribeEnd(const absl::Status& link_status);

  const Options options_;
  const std::unique_ptr<ExecutorProcess> process_;
  link::Channel channel_;
  // An eventfd: there are bytes that the socket had no room for.
  const link::UniqueFd wake_;

  absl::Mutex mutex_;
  std::uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<std::uint64_t, ExecutorClient::Reply> in_flight_ ABSL_GUARDED_BY(mutex_);
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
  // From Goodbye or Kill, whichever came first; else empty.
  std::string reason_ ABSL_GUARDED_BY(mutex_);

  std::thread reader_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_EXECUTOR_LINK_H_
