// Atomic words, with the scopes that the GPU's memory model wants named: Device for words inside
// the grid, System for words that the CPU reads or writes too. On host devices both are
// std::atomic_ref.
#ifndef GPUOS_ATOMIC_H_
#define GPUOS_ATOMIC_H_

#include "gpuos/call.h"

#ifdef __CUDACC__
#include <cuda/atomic>
#else
#include <atomic>
#endif

namespace gpuos {

#ifdef __CUDACC__
template <typename T>
using DeviceWord = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <typename T>
using SystemWord = cuda::atomic_ref<T, cuda::thread_scope_system>;
using cuda::std::memory_order_acq_rel;
using cuda::std::memory_order_acquire;
using cuda::std::memory_order_relaxed;
using cuda::std::memory_order_release;
#else
template <typename T>
using DeviceWord = std::atomic_ref<T>;
template <typename T>
using SystemWord = std::atomic_ref<T>;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
#endif

}  // namespace gpuos

#endif  // GPUOS_ATOMIC_H_
