// A block of threads, for code that runs on both kinds of device: on a GPU a thread block, on a
// host device one thread.
#ifndef GPUOS_BLOCK_H_
#define GPUOS_BLOCK_H_

#include "gpuos/call.h"

namespace gpuos {

#ifdef __CUDACC__
GPUOS_INLINE std::uint32_t ThreadIndex() { return threadIdx.x; }
GPUOS_INLINE std::uint32_t ThreadCount() { return blockDim.x; }
// Orders the memory accesses of all threads of the block.
GPUOS_INLINE void SyncBlock() { __syncthreads(); }
#else
GPUOS_INLINE std::uint32_t ThreadIndex() { return 0; }
GPUOS_INLINE std::uint32_t ThreadCount() { return 1; }
GPUOS_INLINE void SyncBlock() {}
#endif

GPUOS_INLINE bool IsLeader() { return ThreadIndex() == 0; }

}  // namespace gpuos

#endif  // GPUOS_BLOCK_H_
