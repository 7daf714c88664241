#include "daemon/device/cuda/driver.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "absl/strings/str_cat.h"
#include "daemon/device/cuda/cuda_status.h"

namespace gpuos::device {
namespace {

void PrepareEnvironment() {
  constexpr int kKeepIfSet = 0;
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", kKeepIfSet);
  setenv("CUDA_MODULE_LOADING", "EAGER", kKeepIfSet);
}

absl::Status NotUsable(const std::string& library, const std::string& why) {
  return absl::UnavailableError(absl::StrCat("the NVIDIA driver (", library, ") cannot be used: ",
                                             why, "; install it, or use the host device"));
}

// cuDriverGetVersion works before cuInit and has had one form for ever.
absl::Status CheckVersion(void* handle, const std::string& library) {
  const auto get_version =
      reinterpret_cast<decltype(&::cuDriverGetVersion)>(dlsym(handle, "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != CUDA_SUCCESS) {
    return NotUsable(library, "it does not tell its version");
  }
  if (version < Driver::kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the NVIDIA driver (", library, ") supports CUDA ", version / 1000, ".",
                     version % 1000 / 10, "; gpuosd needs ", Driver::kVersion / 1000, ".",
                     Driver::kVersion % 1000 / 10, ": install driver 580 or newer"));
  }
  return absl::OkStatus();
}

// libcuda exports old and new forms under similar names; this asks for those of kVersion.
class Resolver {
 public:
  explicit Resolver(void* handle)
      : get_(
            reinterpret_cast<decltype(&::cuGetProcAddress)>(dlsym(handle, "cuGetProcAddress_v2"))) {
  }

  template <typename Function>
  void Resolve(const char* name, Function& function) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult found{};
    const bool ok = get_ != nullptr &&
                    get_(name, &address, Driver::kVersion, CU_GET_PROC_ADDRESS_DEFAULT, &found) ==
                        CUDA_SUCCESS &&
                    address != nullptr;
    if (!ok && missing_.empty()) missing_ = name;
    function = reinterpret_cast<Function>(address);
  }

  // The first entry point that was not found, or empty.
  const std::string& missing() const { return missing_; }

 private:
  const decltype(&::cuGetProcAddress) get_;
  std::string missing_;
};

absl::Status ResolveAll(void* handle, const std::string& library, DriverApi& api) {
  Resolver resolver(handle);
#define GPUOS_RESOLVE_ENTRY_POINT(name) resolver.Resolve(#name, api.name);
  GPUOS_CUDA_ENTRY_POINTS(GPUOS_RESOLVE_ENTRY_POINT)
#undef GPUOS_RESOLVE_ENTRY_POINT
  if (resolver.missing().empty()) return absl::OkStatus();
  return NotUsable(library, absl::StrCat("it has no ", resolver.missing()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Driver>> Driver::Load(const std::string& library) {
  PrepareEnvironment();
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NotUsable(library, dlerror());
  absl::Status status = CheckVersion(handle, library);
  if (!status.ok()) return status;
  auto driver = std::unique_ptr<Driver>(new Driver());
  status = ResolveAll(handle, library, driver->api_);
  if (!status.ok()) return status;
  status = driver->Check(driver->api_.cuInit(0), "cuInit");
  if (!status.ok()) return status;
  return driver;
}

absl::Status Driver::Check(CUresult result, const char* call, const std::string& detail) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  api_.cuGetErrorName(result, &name);
  api_.cuGetErrorString(result, &text);
  return ToStatus(result, {.call = call,
                           .detail = detail,
                           .name = name == nullptr ? "unknown" : name,
                           .text = text == nullptr ? "" : text});
}

}  // namespace gpuos::device
