// How an operation that takes time gives its answer.
#ifndef GPUOS_DAEMON_CONTROL_REPLY_H_
#define GPUOS_DAEMON_CONTROL_REPLY_H_

#include <functional>

#include "absl/status/statusor.h"

namespace gpuos::control {

// Called once, on any thread. Returns whether the caller still took it: false if the call was
// cancelled or its client has gone, so that the operation can undo what nobody will use.
template <typename Response>
using Reply = std::function<bool(absl::StatusOr<Response>)>;

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_REPLY_H_
