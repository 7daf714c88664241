// Doing something after a time, without a thread that waits.
#ifndef GPUOS_DAEMON_CONTROL_LATER_H_
#define GPUOS_DAEMON_CONTROL_LATER_H_

#include <functional>

#include "absl/time/time.h"

namespace gpuos::control {

// Runs `work` once, after the time, on some thread that it must not block. Thread-safe.
using Later = std::function<void(absl::Duration, std::function<void()> work)>;

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_LATER_H_
