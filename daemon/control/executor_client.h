// What the rest of the control plane sees of a device's executor.
#ifndef GPUOS_DAEMON_CONTROL_EXECUTOR_CLIENT_H_
#define GPUOS_DAEMON_CONTROL_EXECUTOR_CLIENT_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {

// A descriptor that several hold, such as a segment's memory file by its session and by a request.
using SharedFd = std::shared_ptr<const link::UniqueFd>;

// Requests to one executor. Thread-safe.
class ExecutorClient {
 public:
  // The executor's answer, or its error. ABORTED: the executor was lost while it had the request.
  // UNAVAILABLE: it never had it.
  using Reply = std::function<void(absl::StatusOr<v1::ExecutorResponse>)>;

  virtual ~ExecutorClient() = default;

  // Sends a request (its id is chosen here) with `descriptor` unless null, and calls `reply` once,
  // on another thread or this one; requests of one thread arrive in order. Does not wait for the
  // executor. `reply` must not block.
  virtual void Call(v1::ExecutorRequest request, SharedFd descriptor, Reply reply) = 0;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_EXECUTOR_CLIENT_H_
