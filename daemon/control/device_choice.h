// Which of the machine's devices the daemon serves.
#ifndef GPUOS_DAEMON_CONTROL_DEVICE_CHOICE_H_
#define GPUOS_DAEMON_CONTROL_DEVICE_CHOICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::control {

// What `gpuos-executor --list-devices` found.
struct FoundDevices {
  std::vector<v1::DeviceInfo> devices;
  // Why there is no CUDA device among them, if that is known.
  std::string no_cuda;
};

// Reads its output: one JSON object a line, {"name", "uuid", "model", "memory_bytes", "remark"};
// the host's remark says why there is no CUDA device. INVALID_ARGUMENT with the line that is not
// one. Pure.
absl::StatusOr<FoundDevices> ParseDeviceList(const std::string& output);

struct DeviceChoice {
  std::vector<v1::DeviceInfo> devices;  // Never empty.
  // Half a sentence for the log: why these.
  std::string reason;
};

// `wanted` is --device: "auto" (every CUDA device; the host where there is none), "host", or names
// separated by commas. NOT_FOUND names those there are; INVALID_ARGUMENT for one named twice. Pure.
absl::StatusOr<DeviceChoice> ChooseDevices(const std::string& wanted, const FoundDevices& found);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_DEVICE_CHOICE_H_
