// A forked child must not use its parent's connections, nor its parent's gRPC.
#ifndef GPUOS_CLIENT_INTERNAL_FORK_CHECK_H_
#define GPUOS_CLIENT_INTERNAL_FORK_CHECK_H_

#include <sys/types.h>
#include <unistd.h>

#include "absl/status/status.h"

namespace gpuos::internal {

// Remembers the process that made it. Thread-safe; never blocks.
class ForkCheck {
 public:
  bool InChild() const { return ::getpid() != owner_; }
  // FAILED_PRECONDITION in any other process than the one that made this.
  absl::Status Check() const;

 private:
  pid_t owner_ = ::getpid();
};

// Claims gRPC for this process. FAILED_PRECONDITION if a parent process used it before it forked
// this one: gRPC's threads are not here, and its epoll set is still shared, so that calls here
// would take events from the parent and end it too. Thread-safe; never blocks.
absl::Status ClaimGrpc();

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_FORK_CHECK_H_
