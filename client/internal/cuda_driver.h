// What libgpuos asks the CUDA driver, as an interface: tests have no driver.
#ifndef GPUOS_CLIENT_INTERNAL_CUDA_DRIVER_H_
#define GPUOS_CLIENT_INTERNAL_CUDA_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gpuos::internal {

// What the driver knows about a pointer of this process.
struct PointerFacts {
  enum class Kind { kUnknown, kHost, kDevice };

  Kind kind = Kind::kUnknown;
  bool managed = false;
  // Of a cudaMallocAsync pool.
  bool pooled = false;
  // cuIpcGetMemHandle takes it: memory of cudaMalloc.
  bool legacy_ipc = false;
  // The allocation around the pointer: its address, its size in bytes, and a number that no other
  // allocation of this process ever has.
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint64_t buffer_id = 0;
  // Of the GPU that holds it, "GPU-...".
  std::string device_uuid;
};

// Thread-safe. Calls enter the context that owns the pointer and leave the thread's own as it was;
// they never wait for kernels.
class CudaDriver {
 public:
  virtual ~CudaDriver() = default;
  // OK also for pointers that the driver does not know (Kind::kUnknown).
  virtual absl::StatusOr<PointerFacts> Inspect(std::uint64_t pointer) = 0;
  // The 64 bytes by which another process opens the allocation at `base`.
  virtual absl::StatusOr<std::string> ExportHandle(std::uint64_t base) = 0;
};

// OK if the allocation around `pointer` can be shared with gpuosd; else the reason and the way out.
absl::Status CheckExportable(std::uint64_t pointer, const PointerFacts& facts);

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_CUDA_DRIVER_H_
