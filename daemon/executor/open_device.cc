#include "daemon/executor/open_device.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "daemon/device/cuda/cuda_device.h"
#include "daemon/device/cuda/list.h"
#include "daemon/device/cuda/worker_image.h"
#include "daemon/device/host/host_device.h"
#include "daemon/device/host/machine.h"
#include "kernels/ops/builtins.h"
#include "nlohmann/json.hpp"

namespace gpuos::executor {
namespace {

constexpr char kHostName[] = "host:0";

absl::StatusOr<std::unique_ptr<device::Device>> OpenHost(const Flags& flags) {
  return device::CreateHostDevice(
      {.threads = flags.host_threads,
       .blocks = flags.host_blocks,
       .seed = flags.seed,
       .memory_bytes = 0,
       .table = reinterpret_cast<device::DeviceAddress>(ops::HostTable())});
}

absl::StatusOr<std::unique_ptr<device::Device>> OpenCuda(const Flags& flags, int ordinal) {
  device::CudaOptions options;
  options.ordinal = ordinal;
  options.image = device::WorkerImage();
  options.driver_library = flags.cuda_driver;
  return device::CreateCudaDevice(options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<device::Device>> OpenDevice(const Flags& flags) {
  if (flags.device == kHostName) return OpenHost(flags);
  absl::string_view ordinal_text = flags.device;
  int ordinal = 0;
  if (absl::ConsumePrefix(&ordinal_text, "cuda:") && absl::SimpleAtoi(ordinal_text, &ordinal) &&
      ordinal >= 0) {
    return OpenCuda(flags, ordinal);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--device is ", flags.device, "; it must be host:0 or cuda:N"));
}

absl::StatusOr<std::vector<device::Info>> ListDevices(const Flags& flags) {
  absl::StatusOr<std::vector<device::Info>> devices = device::ListCudaDevices(flags.cuda_driver);
  device::Info host;
  host.name = kHostName;
  if (absl::IsUnavailable(devices.status())) {
    host.remark = std::string(devices.status().message());
    devices = std::vector<device::Info>();
  }
  if (!devices.ok()) return devices;
  host.model = device::ProcessorModel();
  host.memory_bytes = device::MachineMemoryBytes();
  devices->push_back(std::move(host));
  return devices;
}

std::string ToJson(const device::Info& info) {
  const nlohmann::ordered_json json = {{"name", info.name},
                                       {"uuid", info.uuid},
                                       {"model", info.model},
                                       {"memory_bytes", info.memory_bytes},
                                       {"remark", info.remark}};
  // Vendors' names need not be UTF-8; what is not is replaced.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace gpuos::executor
