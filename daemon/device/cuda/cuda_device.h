// A GPU as a device.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_CUDA_DEVICE_H_
#define GPUOS_DAEMON_DEVICE_CUDA_CUDA_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"

namespace gpuos::device {

struct CudaOptions {
  int ordinal = 0;  // In the driver's order: 1 is "cuda:1".
  // Blocks of a launch, one of which schedules. 0: one for each multiprocessor. At least 2.
  std::uint32_t blocks = 0;
  // Stack of each of the GPU's threads. The driver sets memory aside for all that can be resident
  // at once (2 KiB: 0.55 GB on an H200). An operator whose frames need more is refused.
  std::size_t stack_bytes = 2048;
  // The worker's cubin (worker_image.h). Must outlive the call.
  absl::Span<const std::byte> image;
  // The driver library; empty: the system's.
  std::string driver_library;
};

// Makes context, worker and buffers; blocks for as long as the driver takes (0.2-1 s). UNAVAILABLE
// where there is no driver, NOT_FOUND for an ordinal that is none, FAILED_PRECONDITION for a driver
// or a GPU that the worker was not built for, INVALID_ARGUMENT for options out of range,
// RESOURCE_EXHAUSTED without memory. The thread that calls it is the one that must use the device.
absl::StatusOr<std::unique_ptr<Device>> CreateCudaDevice(const CudaOptions& options);

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_CUDA_DEVICE_H_
