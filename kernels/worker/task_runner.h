// Blocks that run operators: take a ready task, run its tiles, hand on what becomes ready.
#ifndef GPUOS_KERNELS_WORKER_TASK_RUNNER_H_
#define GPUOS_KERNELS_WORKER_TASK_RUNNER_H_

#include "kernels/abi/program.h"
#include "kernels/worker/batch_view.h"
#include "kernels/worker/block_memory.h"
#include "kernels/worker/ready_queue.h"

namespace gpuos::worker {

inline constexpr std::uint32_t kNoTask = ~0u;

// One thread. Tells the executor that the batch is done and frees its window for reuse.
GPUOS_INLINE void CompleteBatch(abi::WorkerState& state, abi::BatchState& batch) {
  auto* queue = reinterpret_cast<abi::QueuePage*>(state.queue);
  abi::Completion& completion = queue->completions[batch.window];
  const std::uint64_t id = batch.id;
  const std::uint64_t error = DeviceWord<std::uint64_t>(batch.error).load(memory_order_relaxed);
  completion.code = error == 0 ? abi::BatchCode::kOk : abi::BatchCode::kOperatorFailed;
  completion.detail = error;
  // Release, system: every result of the batch (acquired through tasks_left) before the word that
  // the executor waits for. After it the batch's memory may be reused.
  SystemWord<std::uint64_t>(completion.id).store(id, memory_order_release);
  DeviceWord<std::uint64_t>(state.outstanding).fetch_sub(1, memory_order_release);
}

// One thread. Offers a task whose predecessors are done to as many blocks as it can use.
GPUOS_INLINE void OfferTask(abi::WorkerState& state, const BatchView& batch, std::uint32_t task) {
  const std::uint32_t width = batch.WidthOf(task);
  for (std::uint32_t i = 0; i < width; ++i) PushReady(state, batch.state().window, task);
}

// One thread, the one that finished the task's last tile. Returns a task that has become ready and
// that the caller must run next (so that a chain stays in one block), or kNoTask.
GPUOS_INLINE std::uint32_t FinishTask(abi::WorkerState& state, const BatchView& batch,
                                      const abi::Task& task) {
  std::uint32_t next = kNoTask;
  for (std::uint32_t i = 0; i < task.successor_count; ++i) {
    const std::uint32_t successor = batch.successors()[task.first_successor + i];
    // Release our results; acquire those of the other predecessors if we are the last.
    if (DeviceWord<std::uint32_t>(batch.task_state(successor).pending)
            .fetch_sub(1, memory_order_acq_rel) != 1) {
      continue;
    }
    if (next == kNoTask && batch.WidthOf(successor) == 1) {
      next = successor;
    } else {
      OfferTask(state, batch, successor);
    }
  }
  // As above; the last task has acquired the results of all.
  if (DeviceWord<std::uint32_t>(batch.state().tasks_left).fetch_sub(1, memory_order_acq_rel) == 1) {
    CompleteBatch(state, batch.state());
  }
  return next;
}

// All threads. Runs the tiles of one task, all of them if the task is narrow, else those that no
// other block takes.
GPUOS_INLINE void RunTiles(abi::WorkerState& state, BlockMemory& memory, const BatchView& batch,
                           std::uint32_t index) {
  const abi::Task& task = batch.task(index);
  const bool narrow = batch.WidthOf(index) == 1;
  const OperatorFunction function = batch.function(task.op);
  if (IsLeader()) memory.call = batch.MakeCall(index, memory.scratch);
  for (std::uint32_t turn = 0;; ++turn) {
    if (IsLeader()) {
      DeviceWord<std::uint32_t> next_tile(batch.task_state(index).next_tile);
      memory.call.tile = narrow ? turn : next_tile.fetch_add(1, memory_order_relaxed);
    }
    // The call, before everybody reads it. From here on only the copy: once the leader is past the
    // end, the batch may complete while other threads still look at the call.
    SyncBlock();
    if (memory.call.tile >= memory.call.tiles) return;
    function(memory.call);
    SyncBlock();  // Call and scratch are free again; all threads' results, for the leader's
                  // release.
    if (IsLeader()) {
      DeviceWord<std::uint64_t>(state.progress).fetch_add(1, memory_order_relaxed);
    }
  }
}

// All threads. Uses up one ready item of a task; returns the task that this block must run next.
GPUOS_INLINE std::uint32_t RunItem(abi::WorkerState& state, BlockMemory& memory,
                                   const BatchView& batch, std::uint32_t index) {
  RunTiles(state, memory, batch, index);
  std::uint32_t next = kNoTask;
  if (IsLeader()) {
    // Release this block's results; the last block acquires those of all. If another block still
    // works on the task, it may end the batch: nothing of the batch is touched after this.
    DeviceWord<std::uint32_t> items_left(batch.task_state(index).items_left);
    if (items_left.fetch_sub(1, memory_order_acq_rel) == 1) {
      next = FinishTask(state, batch, batch.task(index));
    }
  }
  return FromLeader(memory.next_task, next);
}

// All threads of a block. Takes one ready item, if there is one, and runs it and the chain of tasks
// that follows from it. `launch` is the number of this launch of the worker, from 1 upwards.
GPUOS_INLINE StepResult RunnerStep(abi::WorkerState& state, BlockMemory& memory,
                                   std::uint64_t launch) {
  constexpr abi::ReadyItem kNothing = 0;
  constexpr abi::ReadyItem kLeave = 1;  // No item has this value: its lap tag would be 0.
  abi::ReadyItem item = kNothing;
  if (IsLeader()) {
    // Acquire: the scheduler block sets `left` when nothing is ready and nothing is running.
    const std::uint64_t left = DeviceWord<std::uint64_t>(state.left).load(memory_order_acquire);
    item = left >= launch ? kLeave : PopReady(state);
  }
  item = FromLeader(memory.item, item);
  if (item == kLeave) return StepResult::kLeft;
  if (item == kNothing) return StepResult::kIdle;
  const BatchView batch(*reinterpret_cast<abi::BatchState*>(state.windows[abi::WindowOf(item)]));
  for (std::uint32_t task = abi::TaskOf(item); task != kNoTask;) {
    task = RunItem(state, memory, batch, task);
  }
  return StepResult::kWorked;
}

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_TASK_RUNNER_H_
