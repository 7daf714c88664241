// The persistent worker on a GPU. Block 0 schedules, the others run operators.
#include "gpuos/block.h"
#include "kernels/worker/scheduler.h"
#include "kernels/worker/task_runner.h"

namespace gpuos::worker {
namespace {

// Pauses of idle blocks. The scheduler's pause bounds what it adds to a submission's latency; a
// runner's also bounds the load that polling puts on the L2 cache.
constexpr unsigned kSchedulerPauseNs = 20;
constexpr unsigned kRunnerPauseNs = 100;
constexpr std::uint64_t kHeartbeatNs = 20000;

__device__ std::uint64_t GlobalTimerNs() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ void Schedule(abi::WorkerState& state, BlockMemory& memory, std::uint64_t launch) {
  auto& queue = *reinterpret_cast<abi::QueuePage*>(state.queue);
  std::uint64_t last_beat = 0;
  for (;;) {
    const StepResult result = SchedulerStep(state, memory, launch);
    if (IsLeader()) {
      const std::uint64_t now = GlobalTimerNs();
      if (now - last_beat >= kHeartbeatNs) {
        BeatHeart(state, queue, launch, now);
        last_beat = now;
      }
    }
    if (result == StepResult::kLeft) return;
    if (result == StepResult::kIdle) __nanosleep(kSchedulerPauseNs);
  }
}

__device__ void Run(abi::WorkerState& state, BlockMemory& memory, std::uint64_t launch) {
  for (;;) {
    const StepResult result = RunnerStep(state, memory, launch);
    if (result == StepResult::kLeft) return;
    if (result == StepResult::kIdle) __nanosleep(kRunnerPauseNs);
  }
}

}  // namespace
}  // namespace gpuos::worker

// `launch` counts launches over one state, from 1 upwards. At least two blocks.
extern "C" __global__ void __launch_bounds__(256)
    gpuos_worker(gpuos::abi::WorkerState* state, std::uint64_t launch) {
  __shared__ gpuos::worker::BlockMemory memory;
  if (blockIdx.x == 0) {
    gpuos::worker::Schedule(*state, memory, launch);
  } else {
    gpuos::worker::Run(*state, memory, launch);
  }
}
