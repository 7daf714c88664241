// The worker's image, loaded.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_MODULE_H_
#define GPUOS_DAEMON_DEVICE_CUDA_MODULE_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// Owns the module. Made once, before the first launch, and gone after the last: both wait for any
// running kernel of the context. Immutable. Driver and context must outlive it.
class Module {
 public:
  // Loads `image`, a cubin, finds the worker and its operators' table, and makes all of it ready to
  // run, so that no later launch has to load something. FAILED_PRECONDITION if the image is not for
  // this GPU, with both architectures; INTERNAL if it is no worker.
  static absl::StatusOr<std::unique_ptr<Module>> Load(const Driver& driver, int ordinal,
                                                      absl::Span<const std::byte> image);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  CUfunction worker() const { return worker_; }
  // Of the operators' code addresses, in the order of ops::Builtins().
  DeviceAddress builtin_table() const { return builtin_table_; }

 private:
  Module(const Driver& driver, CUmodule handle) : driver_(driver), handle_(handle) {}

  absl::Status FindParts();
  absl::Status MakeReady() const;

  const Driver& driver_;
  const CUmodule handle_;
  CUfunction worker_ = nullptr;
  DeviceAddress builtin_table_ = 0;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_MODULE_H_
