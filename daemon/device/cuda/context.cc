#include "daemon/device/cuda/context.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/device/cuda/device_info.h"

namespace gpuos::device {

absl::StatusOr<std::unique_ptr<Context>> Context::Create(const Driver& driver, int ordinal,
                                                         std::size_t stack_bytes) {
  const DriverApi& api = driver.api();
  const std::string on = absl::StrCat("on ", DeviceName(ordinal));
  CUdevice device = 0;
  absl::Status status = driver.Check(api.cuDeviceGet(&device, ordinal), "cuDeviceGet", on);
  if (!status.ok()) return status;
  CUcontext handle = nullptr;
  status =
      driver.Check(api.cuDevicePrimaryCtxRetain(&handle, device), "cuDevicePrimaryCtxRetain", on);
  if (!status.ok()) return status;
  // From here on the destructor releases it.
  auto context = std::unique_ptr<Context>(new Context(driver, device));
  status = driver.Check(api.cuCtxSetCurrent(handle), "cuCtxSetCurrent", on);
  if (!status.ok()) return status;
  status = driver.Check(api.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, stack_bytes), "cuCtxSetLimit",
                        absl::StrCat("of ", stack_bytes, " bytes of stack ", on));
  if (!status.ok()) return status;
  return context;
}

Context::~Context() {
  driver_.api().cuCtxSetCurrent(nullptr);
  driver_.api().cuDevicePrimaryCtxRelease(device_);
}

}  // namespace gpuos::device
