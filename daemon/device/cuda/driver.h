// The CUDA driver, found at run time: the same binaries run where there is none.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_DRIVER_H_
#define GPUOS_DAEMON_DEVICE_CUDA_DRIVER_H_

#include <cuda.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gpuos::device {

// The entry points that this room uses. <cuda.h> renames some of them (cuMemAlloc is
// cuMemAlloc_v2), so the table's members carry those names too and are called as they are written
// here.
#define GPUOS_CUDA_ENTRY_POINTS(X) \
  X(cuCtxSetCurrent)               \
  X(cuCtxSetLimit)                 \
  X(cuDeviceGet)                   \
  X(cuDeviceGetAttribute)          \
  X(cuDeviceGetCount)              \
  X(cuDeviceGetName)               \
  X(cuDeviceGetUuid)               \
  X(cuDevicePrimaryCtxRelease)     \
  X(cuDevicePrimaryCtxRetain)      \
  X(cuDeviceTotalMem)              \
  X(cuEventCreate)                 \
  X(cuEventDestroy)                \
  X(cuEventQuery)                  \
  X(cuEventRecord)                 \
  X(cuFuncLoad)                    \
  X(cuFuncSetAttribute)            \
  X(cuGetErrorName)                \
  X(cuGetErrorString)              \
  X(cuInit)                        \
  X(cuIpcCloseMemHandle)           \
  X(cuIpcOpenMemHandle)            \
  X(cuLaunchKernel)                \
  X(cuMemAlloc)                    \
  X(cuMemFree)                     \
  X(cuMemFreeHost)                 \
  X(cuMemGetAddressRange)          \
  X(cuMemGetInfo)                  \
  X(cuMemHostAlloc)                \
  X(cuMemHostGetDevicePointer)     \
  X(cuMemcpyDtoHAsync)             \
  X(cuMemcpyHtoDAsync)             \
  X(cuModuleGetFunction)           \
  X(cuModuleGetGlobal)             \
  X(cuModuleLoadData)              \
  X(cuModuleUnload)                \
  X(cuStreamCreate)                \
  X(cuStreamDestroy)               \
  X(cuStreamSynchronize)

struct DriverApi {
#define GPUOS_DECLARE_ENTRY_POINT(name) decltype(&::name) name = nullptr;
  GPUOS_CUDA_ENTRY_POINTS(GPUOS_DECLARE_ENTRY_POINT)
#undef GPUOS_DECLARE_ENTRY_POINT
};

// The loaded and initialized driver. Immutable, thread-safe; must outlive everything that was made
// through it. The library stays loaded when a Driver goes: it has threads of its own.
class Driver {
 public:
  // The driver's soname, found as the dynamic linker finds it.
  static constexpr char kLibrary[] = "libcuda.so.1";
  // CUDA version whose entry points are asked for.
  static constexpr int kVersion = 13000;

  // Loads `library`, resolves every entry point for kVersion and calls cuInit. Sets, where they are
  // not set, the environment variables that the driver reads then: many hardware queues (streams
  // that share one with the worker would wait for it) and eager loading (a lazy load waits for the
  // worker). UNAVAILABLE says what is missing (the library, an entry point, a device);
  // FAILED_PRECONDITION says that the driver is too old.
  static absl::StatusOr<std::unique_ptr<Driver>> Load(const std::string& library = kLibrary);

  const DriverApi& api() const { return api_; }

  // OK for CUDA_SUCCESS; else the one translation of driver errors (cuda_status.h). `call` is the
  // entry point's name, `detail` says what it was for, such as "of 4096 bytes on cuda:0".
  absl::Status Check(CUresult result, const char* call, const std::string& detail = "") const;

 private:
  Driver() = default;

  DriverApi api_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_DRIVER_H_
