// CUDA results as absl::Status: the one door.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_CUDA_STATUS_H_
#define GPUOS_DAEMON_DEVICE_CUDA_CUDA_STATUS_H_

#include <cuda.h>

#include <string>

#include "absl/status/status.h"

namespace gpuos::device {

// What is known about a failed driver call.
struct CudaFailure {
  std::string call;    // "cuMemAlloc".
  std::string detail;  // What it was for, or empty: "of 4096 bytes on cuda:0".
  std::string name;    // The driver's name of the error: "CUDA_ERROR_OUT_OF_MEMORY".
  std::string text;    // The driver's words: "out of memory".
};

// The code of `result`: RESOURCE_EXHAUSTED for memory, DATA_LOSS for errors after which the
// context, the worker and all device memory are lost, UNAVAILABLE where there is no device or no
// MPS server, INVALID_ARGUMENT for values and handles, else INTERNAL; OK for CUDA_SUCCESS.
absl::StatusCode CodeOf(CUresult result);

// Whether nothing works in the context any more, so that its process must be replaced.
bool LosesContext(CUresult result);

// "cuMemAlloc of 4096 bytes on cuda:0 failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
absl::Status ToStatus(CUresult result, const CudaFailure& failure);

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_CUDA_STATUS_H_
