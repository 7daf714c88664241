// The CUDA driver of this process, loaded when it is first asked for.
#ifndef GPUOS_CLIENT_INTERNAL_LIB_CUDA_H_
#define GPUOS_CLIENT_INTERNAL_LIB_CUDA_H_

#include "absl/status/statusor.h"
#include "client/internal/cuda_driver.h"

namespace gpuos::internal {

// libcuda.so.1 by dlopen; it stays loaded for the life of the process, as the driver cannot be
// unloaded. FAILED_PRECONDITION says what is missing, and the next call tries again. Thread-safe.
absl::StatusOr<CudaDriver*> LoadLibCuda();

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_LIB_CUDA_H_
