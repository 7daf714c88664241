// The CUDA devices of this machine, for `gpuos-executor --list-devices`.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_LIST_H_
#define GPUOS_DAEMON_DEVICE_CUDA_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// Lists the devices by the driver in `library` (empty: the system's). Makes no context, so it holds
// no memory of a GPU. Empty where the driver has no device; UNAVAILABLE where there is no driver.
// May block for as long as the driver takes to start.
absl::StatusOr<std::vector<Info>> ListCudaDevices(const std::string& library = "");

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_LIST_H_
