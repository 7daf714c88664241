#include "daemon/device/cuda/device_info.h"

#include <array>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gpuos::device {
namespace {

constexpr char kSharedRemark[] =
    "MPS shares this GPU: a fault of any CUDA program on it ends the worker too, and MPS then "
    "admits "
    "nobody until all have gone";
constexpr char kIsolatedRemark[] =
    "without MPS the worker and the clients' own kernels take turns, about 0.3 ms a batch when "
    "both "
    "are busy; start nvidia-cuda-mps-control before gpuosd to share the GPU";

std::string FormatUuid(const CUuuid& uuid) {
  const std::string hex = absl::BytesToHexString(absl::string_view(uuid.bytes, sizeof(uuid.bytes)));
  return absl::StrCat("GPU-", hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

absl::StatusOr<CUdevice> FindDevice(const Driver& driver, int ordinal) {
  const absl::StatusOr<int> count = CountDevices(driver);
  if (!count.ok()) return count.status();
  if (ordinal < 0 || ordinal >= *count) {
    return absl::NotFoundError(absl::StrCat("there is no ", DeviceName(ordinal),
                                            "; the driver has ", *count,
                                            " devices, counted from cuda:0"));
  }
  CUdevice device = 0;
  const absl::Status status =
      driver.Check(driver.api().cuDeviceGet(&device, ordinal), "cuDeviceGet", DeviceName(ordinal));
  if (!status.ok()) return status;
  return device;
}

absl::Status FillIdentity(const Driver& driver, CUdevice device, Info& info) {
  std::array<char, 256> model{};
  absl::Status status = driver.Check(
      driver.api().cuDeviceGetName(model.data(), static_cast<int>(model.size()) - 1, device),
      "cuDeviceGetName", info.name);
  if (!status.ok()) return status;
  info.model = model.data();
  CUuuid uuid{};
  status = driver.Check(driver.api().cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid", info.name);
  if (!status.ok()) return status;
  info.uuid = FormatUuid(uuid);
  std::size_t bytes = 0;
  status =
      driver.Check(driver.api().cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem", info.name);
  info.memory_bytes = bytes;
  return status;
}

}  // namespace

std::string DeviceName(int ordinal) { return absl::StrCat("cuda:", ordinal); }

absl::StatusOr<int> CountDevices(const Driver& driver) {
  int count = 0;
  const CUresult result = driver.api().cuDeviceGetCount(&count);
  if (result == CUDA_ERROR_NO_DEVICE) return 0;
  const absl::Status status = driver.Check(result, "cuDeviceGetCount");
  if (!status.ok()) return status;
  return count;
}

absl::StatusOr<int> QueryAttribute(const Driver& driver, int ordinal,
                                   CUdevice_attribute attribute) {
  const absl::StatusOr<CUdevice> device = FindDevice(driver, ordinal);
  if (!device.ok()) return device.status();
  int value = 0;
  const absl::Status status = driver.Check(
      driver.api().cuDeviceGetAttribute(&value, attribute, *device), "cuDeviceGetAttribute",
      absl::StrCat(static_cast<int>(attribute), " of ", DeviceName(ordinal)));
  if (!status.ok()) return status;
  return value;
}

absl::StatusOr<Info> QueryInfo(const Driver& driver, int ordinal) {
  const absl::StatusOr<CUdevice> device = FindDevice(driver, ordinal);
  if (!device.ok()) return device.status();
  Info info{.name = DeviceName(ordinal)};
  const absl::Status status = FillIdentity(driver, *device, info);
  if (!status.ok()) return status;
  const absl::StatusOr<int> mps = QueryAttribute(driver, ordinal, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
  if (!mps.ok()) return mps.status();
  info.sharing = *mps != 0 ? "shared" : "isolated";
  info.remark = *mps != 0 ? kSharedRemark : kIsolatedRemark;
  return info;
}

}  // namespace gpuos::device
