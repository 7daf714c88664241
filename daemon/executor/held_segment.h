// A client's segment as the executor holds it.
#ifndef GPUOS_DAEMON_EXECUTOR_HELD_SEGMENT_H_
#define GPUOS_DAEMON_EXECUTOR_HELD_SEGMENT_H_

#include <memory>

#include "daemon/device/device.h"

namespace gpuos::executor {

// Shared by its session and by every batch that is not finished and names it: it may be released
// when only the one who releases it has it. Counted on the executor's thread only.
using HeldSegment = std::shared_ptr<const device::Segment>;

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_HELD_SEGMENT_H_
