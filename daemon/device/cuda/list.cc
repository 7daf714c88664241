#include "daemon/device/cuda/list.h"

#include <memory>
#include <utility>

#include "daemon/device/cuda/device_info.h"
#include "daemon/device/cuda/driver.h"

namespace gpuos::device {

absl::StatusOr<std::vector<Info>> ListCudaDevices(const std::string& library) {
  const absl::StatusOr<std::unique_ptr<Driver>> driver =
      Driver::Load(library.empty() ? Driver::kLibrary : library);
  if (!driver.ok()) return driver.status();
  const absl::StatusOr<int> count = CountDevices(**driver);
  if (!count.ok()) return count.status();
  std::vector<Info> devices;
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    absl::StatusOr<Info> info = QueryInfo(**driver, ordinal);
    if (!info.ok()) return info.status();
    devices.push_back(*std::move(info));
  }
  return devices;
}

}  // namespace gpuos::device
