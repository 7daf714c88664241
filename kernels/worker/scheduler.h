// The scheduler block: takes entries from the device queue, starts batches, obeys PARK, keeps the
// heartbeat. It runs no operators, and its leader is the only thread of the grid that reads memory
// of the host (docs/measurements: more pollers make every access many times slower).
#ifndef GPUOS_KERNELS_WORKER_SCHEDULER_H_
#define GPUOS_KERNELS_WORKER_SCHEDULER_H_

#include "kernels/worker/batch_view.h"
#include "kernels/worker/block_memory.h"
#include "kernels/worker/ready_queue.h"
#include "kernels/worker/task_runner.h"

namespace gpuos::worker {

// All threads. Makes the state of a batch out of its queue entry.
GPUOS_INLINE abi::BatchState& MakeBatchState(const abi::QueueEntry& entry) {
  const auto& program = *reinterpret_cast<const abi::Program*>(entry.program);
  auto& batch = *reinterpret_cast<abi::BatchState*>(entry.state);
  const abi::DeviceAddress bindings = entry.state + sizeof(abi::BatchState);
  const abi::DeviceAddress tasks = bindings + abi::BindingsBytes(program.slot_count);
  if (IsLeader()) {
    batch = abi::BatchState{.id = entry.id,
                            .program = entry.program,
                            .table = entry.table,
                            .tasks_left = program.task_count,
                            .window = entry.window,
                            .error = 0,
                            .bindings = bindings,
                            .tasks = tasks,
                            .reserved = 0};
  }
  SyncBlock();  // The header, before BatchView reads it.
  const BatchView view(batch);
  const auto* from = reinterpret_cast<const abi::DeviceAddress*>(entry.bindings);
  auto* to = reinterpret_cast<abi::DeviceAddress*>(bindings);
  for (std::uint32_t i = ThreadIndex(); i < program.slot_count; i += ThreadCount()) to[i] = from[i];
  for (std::uint32_t i = ThreadIndex(); i < program.task_count; i += ThreadCount()) {
    view.task_state(i) = abi::TaskState{.pending = view.task(i).predecessors,
                                        .next_tile = 0,
                                        .items_left = view.WidthOf(i),
                                        .reserved = 0};
  }
  return batch;
}

// All threads.
GPUOS_INLINE void StartBatch(abi::WorkerState& state, const abi::QueueEntry& entry) {
  abi::BatchState& batch = MakeBatchState(entry);
  const BatchView view(batch);
  if (IsLeader()) {
    state.windows[entry.window] = entry.state;
    DeviceWord<std::uint64_t>(state.outstanding).fetch_add(1, memory_order_relaxed);
  }
  SyncBlock();  // The whole state, before any thread's release in PushReady.
  if (view.program().task_count == 0) {
    if (IsLeader()) CompleteBatch(state, batch);
    return;
  }
  const std::uint32_t roots = view.program().root_count;
  for (std::uint32_t i = ThreadIndex(); i < roots; i += ThreadCount()) {
    OfferTask(state, view, view.roots()[i]);
  }
}

// One thread. Lets every block of this launch leave if nothing is running; says whether it did.
GPUOS_INLINE bool TryPark(abi::WorkerState& state, abi::QueuePage& queue, std::uint64_t launch) {
  // Acquire: pairs with the release in CompleteBatch.
  if (DeviceWord<std::uint64_t>(state.outstanding).load(memory_order_acquire) != 0) return false;
  ++state.consumed;
  DeviceWord<std::uint64_t>(state.left).store(launch, memory_order_release);
  SystemWord<std::uint64_t>(queue.heartbeat.left).store(launch, memory_order_release);
  return true;
}

// One thread. `clock_ns` is the device's clock.
GPUOS_INLINE void BeatHeart(abi::WorkerState& state, abi::QueuePage& queue, std::uint64_t launch,
                            std::uint64_t clock_ns) {
  const std::uint64_t progress =
      DeviceWord<std::uint64_t>(state.progress).load(memory_order_relaxed);
  SystemWord<std::uint64_t>(queue.heartbeat.launch).store(launch, memory_order_relaxed);
  SystemWord<std::uint64_t>(queue.heartbeat.progress).store(progress, memory_order_relaxed);
  SystemWord<std::uint64_t>(queue.heartbeat.clock_ns).store(clock_ns, memory_order_relaxed);
}

// All threads of the scheduler block. Takes one queue entry, if there is one.
GPUOS_INLINE StepResult SchedulerStep(abi::WorkerState& state, BlockMemory& memory,
                                      std::uint64_t launch) {
  auto& queue = *reinterpret_cast<abi::QueuePage*>(state.queue);
  StepResult result = StepResult::kIdle;
  if (IsLeader()) {
    // Acquire, system: the entry and its bindings, written by the CPU before the tail.
    const std::uint64_t tail = SystemWord<std::uint64_t>(queue.tail).load(memory_order_acquire);
    if (state.consumed != tail) {
      memory.entry = queue.entries[state.consumed % abi::kQueueEntries];
      if (memory.entry.kind == abi::EntryKind::kPark) {
        if (TryPark(state, queue, launch)) result = StepResult::kLeft;
      } else {
        ++state.consumed;
        result = StepResult::kWorked;
      }
    }
  }
  result = FromLeader(memory.result, result);
  if (result == StepResult::kWorked && memory.entry.kind == abi::EntryKind::kBatch) {
    StartBatch(state, memory.entry);
    SyncBlock();  // Everybody has read the entry before the next step overwrites it.
  }
  return result;
}

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_SCHEDULER_H_
