// What the threads of one block share while they take a step: shared memory on a GPU, part of the
// block's object on a host device. Contents do not outlive a step.
#ifndef GPUOS_KERNELS_WORKER_BLOCK_MEMORY_H_
#define GPUOS_KERNELS_WORKER_BLOCK_MEMORY_H_

#include "gpuos/block.h"
#include "kernels/abi/limits.h"
#include "kernels/abi/worker_state.h"

namespace gpuos::worker {

// What a block did in a step.
enum class StepResult : std::uint32_t {
  kWorked,
  kIdle,  // Nothing to do: the caller may pause before the next step.
  kLeft,  // The worker was parked: the caller must not step again in this launch.
};

struct BlockMemory {
  abi::ReadyItem item;
  std::uint32_t next_task;
  StepResult result;
  abi::QueueEntry entry;
  Call call;
  alignas(16) unsigned char scratch[abi::kScratchBytes];
};

// Makes a value that the leader holds known to all threads of the block.
template <typename T>
GPUOS_INLINE T FromLeader(T& shared, T leaders_value) {
  SyncBlock();  // Everybody has finished with the previous value.
  if (IsLeader()) shared = leaders_value;
  SyncBlock();  // Orders the store before everybody's load, and the leader's acquires before them.
  return shared;
}

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_BLOCK_MEMORY_H_
