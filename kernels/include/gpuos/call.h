// What an operator is called with. Included by the worker and, through gpuos/operator.h, by every
// operator; compiled by nvcc, NVRTC and the host compiler.
#ifndef GPUOS_CALL_H_
#define GPUOS_CALL_H_

#include "kernels/abi/program.h"
#include "kernels/abi/queue.h"
#include "kernels/abi/worker_state.h"

#ifdef __CUDACC__
#define GPUOS_DEVICE __device__
#define GPUOS_INLINE __device__ __forceinline__
#else
#define GPUOS_DEVICE
#define GPUOS_INLINE inline
#endif

namespace gpuos {

// One tile of one task. All threads of a block call the operator together with the same Call; on
// host devices there is one thread a block. An operator writes only its outputs' elements that
// belong to its tile, and calls gpuos::SyncBlock() from all threads or from none.
struct Call {
  const abi::View* views;              // Outputs first.
  const abi::DeviceAddress* bindings;  // By View::slot.
  const abi::Scalar* attributes;
  abi::BatchState* batch;
  unsigned char* scratch;  // abi::kScratchBytes, shared by the block, 16-byte aligned, not zeroed.
  std::uint64_t tile_size;
  std::uint32_t tile;
  std::uint32_t tiles;
  std::uint32_t view_count;
  std::uint32_t task;
};

using OperatorFunction = void (*)(const Call&);

}  // namespace gpuos

#endif  // GPUOS_CALL_H_
