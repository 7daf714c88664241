// The worker's memory: everything that it needs to go on after it was parked. Device memory, zeroed
// by the executor once, written by the worker alone after that.
#ifndef GPUOS_KERNELS_ABI_WORKER_STATE_H_
#define GPUOS_KERNELS_ABI_WORKER_STATE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/abi/limits.h"
#include "kernels/abi/queue.h"

namespace gpuos::abi {

// A task that may run: where it is, tagged with the lap of the ready queue so that a reader can
// tell a fresh item from the one that stood there a lap ago.
//   bits 0-15 task, 16-23 window, 24-31 zero, 32-63 lap + 1 (never 0)
using ReadyItem = std::uint64_t;

constexpr ReadyItem MakeReadyItem(std::uint32_t lap, std::uint32_t window, std::uint32_t task) {
  return (static_cast<std::uint64_t>(lap + 1) << 32) | (window << 16) | task;
}
constexpr std::uint32_t TaskOf(ReadyItem item) { return item & 0xffff; }
constexpr std::uint32_t WindowOf(ReadyItem item) { return (item >> 16) & 0xff; }
constexpr std::uint32_t LapTag(ReadyItem item) { return static_cast<std::uint32_t>(item >> 32); }

struct TaskState {
  std::uint32_t pending;    // Predecessors that have not finished.
  std::uint32_t next_tile;  // Next one to hand out; runs past `tiles`. Unused by narrow tasks.
  // Ready items of the task that are not used up. The task is finished when all are, not when its
  // tiles are: an item that is still queued refers to the batch.
  std::uint32_t items_left;
  std::uint32_t reserved;
};
static_assert(sizeof(TaskState) == 16);

// One running batch: this header, then slot_count addresses, then TaskState[task_count].
struct BatchState {
  std::uint64_t id;
  DeviceAddress program;
  DeviceAddress table;
  std::uint32_t tasks_left;
  std::uint32_t window;
  std::uint64_t error;  // 0, or operator's code << 32 | task of the first failure. Code is never 0.
  DeviceAddress bindings;
  DeviceAddress tasks;
  std::uint64_t reserved;
};
static_assert(sizeof(BatchState) == 64);

constexpr std::uint64_t BindingsBytes(std::uint32_t slots) {
  return (std::uint64_t{slots} * sizeof(DeviceAddress) + 15) / 16 * 16;
}
// Bytes that QueueEntry::state must offer.
constexpr std::uint64_t BatchStateBytes(std::uint32_t slots, std::uint32_t tasks) {
  return sizeof(BatchState) + BindingsBytes(slots) + std::uint64_t{tasks} * sizeof(TaskState);
}

// Words that different blocks write lie on lines of their own.
struct WorkerState {
  // Set by the executor before the first launch, constant after.
  DeviceAddress queue;           // QueuePage.
  DeviceAddress ready;           // ReadyItem[ready_capacity], zeroed.
  std::uint64_t ready_capacity;  // Power of two, at most 2^24.
  std::uint64_t reserved[5];

  alignas(64) std::uint64_t ready_head;   // Items taken.
  alignas(64) std::uint64_t ready_tail;   // Items offered.
  alignas(64) std::uint64_t consumed;     // Queue entries taken; scheduler block only.
  alignas(64) std::uint64_t left;         // Launches up to this number leave; scheduler block only.
  alignas(64) std::uint64_t progress;     // Tiles finished.
  alignas(64) std::uint64_t outstanding;  // Batches taken and not finished.
  alignas(64) DeviceAddress windows[kWindow];  // BatchState of each running batch.
};
static_assert(offsetof(WorkerState, ready_head) == 64);
static_assert(sizeof(WorkerState) == 7 * 64 + kWindow * 8);

}  // namespace gpuos::abi

#endif  // GPUOS_KERNELS_ABI_WORKER_STATE_H_
