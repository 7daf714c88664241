// What the files with the driver's entry points share.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_FAKE_EXPORTS_H_
#define GPUOS_DAEMON_DEVICE_CUDA_FAKE_EXPORTS_H_

#include <cuda.h>

#include "daemon/device/cuda/fake/machine.h"

// First line of an entry point: notes the call and gives up if it must fail.
#define GPUOS_FAKE_ENTER(name)                                                     \
  if (const CUresult entered = ::gpuos::device::fake::Machine::Get().Enter(#name); \
      entered != CUDA_SUCCESS) {                                                   \
    return entered;                                                                \
  }

// The same for one that waits until running kernels end: while the worker runs it is refused.
#define GPUOS_FAKE_ENTER_WAITING(name)                                      \
  if (const CUresult entered = ::gpuos::device::fake::Machine::Get().Enter( \
          #name, ::gpuos::device::fake::Waits::kForKernels);                \
      entered != CUDA_SUCCESS) {                                            \
    return entered;                                                         \
  }

#endif  // GPUOS_DAEMON_DEVICE_CUDA_FAKE_EXPORTS_H_
