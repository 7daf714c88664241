// What the driver says about a device, without making a context on it.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_DEVICE_INFO_H_
#define GPUOS_DAEMON_DEVICE_CUDA_DEVICE_INFO_H_

#include <cuda.h>

#include <string>

#include "absl/status/statusor.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// "cuda:0" for ordinal 0.
std::string DeviceName(int ordinal);

// Devices that the process may use, in the driver's order. 0 where there is none.
absl::StatusOr<int> CountDevices(const Driver& driver);

// Name, UUID ("GPU-" and 8-4-4-4-12 hexadecimal digits), model, memory and mode of sharing.
// NOT_FOUND for an ordinal that is none, saying how many there are.
absl::StatusOr<Info> QueryInfo(const Driver& driver, int ordinal);

// One attribute of a device that is there.
absl::StatusOr<int> QueryAttribute(const Driver& driver, int ordinal, CUdevice_attribute attribute);

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_DEVICE_INFO_H_
