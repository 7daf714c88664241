// Asking every executor for its status at once.
#ifndef GPUOS_DAEMON_CONTROL_DEVICE_REPORTS_H_
#define GPUOS_DAEMON_CONTROL_DEVICE_REPORTS_H_

#include <functional>
#include <vector>

#include "daemon/control/devices.h"
#include "daemon/control/later.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {

struct DeviceReport {
  // Counters as of the executor's answer, or the last before, if it gave none in time.
  v1::DeviceStatus status;
  // Empty if it gave none.
  v1::StatusResponse response;
};

// Calls `done` with a report of every device, in their order, when all have answered or a second
// has passed. `devices` outlives the answers. Does not block.
void GatherReports(const Devices& devices, const Later& later,
                   std::function<void(std::vector<DeviceReport>)> done);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_DEVICE_REPORTS_H_
