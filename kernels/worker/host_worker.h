// The worker on a host device: the same steps as on a GPU, taken by threads.
#ifndef GPUOS_KERNELS_WORKER_HOST_WORKER_H_
#define GPUOS_KERNELS_WORKER_HOST_WORKER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/abi/worker_state.h"
#include "kernels/worker/block_memory.h"

namespace gpuos::worker {

// Any number of blocks as plain objects, stepped by a few threads in a seeded random order, so that
// a test can have more blocks than the machine has cores and still meet many interleavings of
// steps. Launches run one after another, as on one CUDA stream. Without a launch the threads sleep;
// while one is resident and idle they look for work every few tens of microseconds.
//
// Thread-safe. Destruction waits for the launches that were queued: the caller must have published
// a PARK for each of them.
class HostWorker {
 public:
  struct Options {
    std::uint32_t threads = 2;  // At least 1. Operators that wait for each other need as many.
    std::uint32_t blocks = 4;   // At least 2: one schedules, the others run operators.
    std::uint64_t seed = 1;     // Of the order in which blocks are stepped.
    // Called by a worker thread, without locks held, after each step in which a block worked and
    // after each launch's end. Must not block and must not destroy the worker. May be empty.
    std::function<void()> on_progress;
  };

  explicit HostWorker(Options options);
  ~HostWorker();
  HostWorker(const HostWorker&) = delete;
  HostWorker& operator=(const HostWorker&) = delete;

  // Queues launch number `launch` over `state`, behind earlier launches. Does not block. `state`
  // must outlive the launch.
  void Launch(abi::WorkerState* state, std::uint64_t launch);

  // Launches that have ended; what they wrote is visible.
  std::uint64_t finished() const { return finished_.load(std::memory_order_acquire); }

  // Blocks that run operators.
  std::uint32_t runner_blocks() const { return options_.blocks - 1; }

 private:
  struct PendingLaunch {
    abi::WorkerState* state = nullptr;
    std::uint64_t number = 0;
  };
  // Members are used only while `busy` is held.
  struct Block {
    std::atomic<bool> busy{false};
    bool left = true;
    PendingLaunch launch;
    std::uint64_t last_beat_ns = 0;  // Of the scheduler block.
    BlockMemory memory;
  };

  void ThreadMain(std::uint64_t seed);
  // Sleeps until a launch is resident; false when it is time to end.
  bool WaitForLaunch();
  // Takes one step of one block, unless another thread has it; says whether it worked.
  bool TryStep(std::uint32_t index);
  StepResult Step(std::uint32_t index, Block& block);
  // Starts the launch at the head of the queue. REQUIRES mutex_ held, no block resident.
  void StartNextLaunch();
  void EndLaunch();

  const Options options_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::atomic<std::uint64_t> finished_{0};
  std::atomic<std::uint32_t> resident_{0};  // Blocks of the current launch that have not left.

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PendingLaunch> pending_;  // Guarded by mutex_; the first is resident.
  bool stopping_ = false;              // Guarded by mutex_.

  std::vector<std::thread> threads_;
};

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_HOST_WORKER_H_
