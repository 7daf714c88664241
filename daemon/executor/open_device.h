// The device that a name means, and the devices that there are.
#ifndef GPUOS_DAEMON_EXECUTOR_OPEN_DEVICE_H_
#define GPUOS_DAEMON_EXECUTOR_OPEN_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/device/device.h"
#include "daemon/executor/flags.h"

namespace gpuos::executor {

// Takes the device that flags.device names. INVALID_ARGUMENT for a name that is none, and what
// CreateHostDevice and CreateCudaDevice say. Blocks as they do. The calling thread is the one that
// must use the device.
absl::StatusOr<std::unique_ptr<device::Device>> OpenDevice(const Flags& flags);

// GPUs first, then host:0. Where no driver is there are no GPUs, and host:0 remarks why. Makes no
// context. An error of a driver that is there: it must not pass for a machine without GPUs.
absl::StatusOr<std::vector<device::Info>> ListDevices(const Flags& flags);

// One line of JSON: name, uuid, model, memory_bytes, remark (of the host: why no GPU is listed).
// Pure.
std::string ToJson(const device::Info& info);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_OPEN_DEVICE_H_
