// Tasks that may run, first in first out, offered and taken by any block.
//
// Bounded, without locks. A taker reads the item at the head and then moves the head by
// compare-and-swap, so that nobody ever holds a place that is not filled: the worker can leave at
// any moment when the queue is empty, and a block that is slow between its steps holds up nobody.
// The caller guarantees that at most `ready_capacity` items are untaken at once (the executor
// publishes batches only while the sum of their Program::ready_items fits).
#ifndef GPUOS_KERNELS_WORKER_READY_QUEUE_H_
#define GPUOS_KERNELS_WORKER_READY_QUEUE_H_

#include "gpuos/atomic.h"
#include "kernels/abi/worker_state.h"

namespace gpuos::worker {

GPUOS_INLINE abi::ReadyItem& ReadyPlace(abi::WorkerState& state, std::uint64_t position) {
  return reinterpret_cast<abi::ReadyItem*>(state.ready)[position & (state.ready_capacity - 1)];
}

GPUOS_INLINE std::uint32_t Lap(const abi::WorkerState& state, std::uint64_t position) {
  return static_cast<std::uint32_t>(position / state.ready_capacity);
}

// One thread. What the caller wrote or acquired before is visible to the taker.
GPUOS_INLINE void PushReady(abi::WorkerState& state, std::uint32_t window, std::uint32_t task) {
  const std::uint64_t position =
      DeviceWord<std::uint64_t>(state.ready_tail).fetch_add(1, memory_order_relaxed);
  // Release: the task's state and its predecessors' results, for the acquire in PopReady.
  DeviceWord<abi::ReadyItem>(ReadyPlace(state, position))
      .store(abi::MakeReadyItem(Lap(state, position), window, task), memory_order_release);
}

// One thread. Returns 0 if nothing is ready.
GPUOS_INLINE abi::ReadyItem PopReady(abi::WorkerState& state) {
  DeviceWord<std::uint64_t> head(state.ready_head);
  std::uint64_t position = head.load(memory_order_relaxed);
  for (;;) {
    // Acquire: pairs with the release in PushReady.
    const abi::ReadyItem item =
        DeviceWord<abi::ReadyItem>(ReadyPlace(state, position)).load(memory_order_acquire);
    if (abi::LapTag(item) != Lap(state, position) + 1) {
      const std::uint64_t now = head.load(memory_order_relaxed);
      if (now == position) return 0;
      position = now;
      continue;
    }
    // The place cannot be overwritten while the head stands here, so on success `item` is the one.
    if (head.compare_exchange_weak(position, position + 1, memory_order_relaxed,
                                   memory_order_relaxed)) {
      return item;
    }
  }
}

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_READY_QUEUE_H_
