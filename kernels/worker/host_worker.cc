#include "kernels/worker/host_worker.h"

#include <chrono>
#include <utility>

#include "kernels/worker/scheduler.h"
#include "kernels/worker/task_runner.h"

namespace gpuos::worker {
namespace {

constexpr std::uint64_t kHeartbeatNs = 20000;
// An idle thread gives its core away this many times before it sleeps between looks.
constexpr std::uint32_t kYieldsBeforeSleep = 256;
constexpr std::chrono::microseconds kIdleSleep(50);

std::uint64_t NowNs() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

// xorshift64*; good enough to shuffle steps, and the same everywhere for one seed.
std::uint64_t NextRandom(std::uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1Dull;
}

}  // namespace

HostWorker::HostWorker(Options options) : options_(std::move(options)) {
  for (std::uint32_t i = 0; i < options_.blocks; ++i) blocks_.push_back(std::make_unique<Block>());
  for (std::uint32_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this, i] { ThreadMain(options_.seed * 0x9E3779B97F4A7C15ull + i + 1); });
  }
}

HostWorker::~HostWorker() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HostWorker::Launch(abi::WorkerState* state, std::uint64_t launch) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pending_.push_back({state, launch});
    if (pending_.size() > 1) return;
    StartNextLaunch();
  }
  changed_.notify_all();
}

void HostWorker::StartNextLaunch() {
  resident_.store(options_.blocks, std::memory_order_relaxed);
  for (const std::unique_ptr<Block>& block : blocks_) {
    // A thread may still look at a block that has left; it lets go without a step.
    while (block->busy.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    block->launch = pending_.front();
    block->left = false;
    block->busy.store(false, std::memory_order_release);
  }
}

void HostWorker::EndLaunch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pending_.pop_front();
    finished_.fetch_add(1, std::memory_order_release);
    if (!pending_.empty()) StartNextLaunch();
  }
  changed_.notify_all();
}

StepResult HostWorker::Step(std::uint32_t index, Block& block) {
  abi::WorkerState& state = *block.launch.state;
  if (index != 0) return RunnerStep(state, block.memory, block.launch.number);
  const StepResult result = SchedulerStep(state, block.memory, block.launch.number);
  const std::uint64_t now = NowNs();
  if (now - block.last_beat_ns >= kHeartbeatNs) {
    BeatHeart(state, *reinterpret_cast<abi::QueuePage*>(state.queue), block.launch.number, now);
    block.last_beat_ns = now;
  }
  return result;
}

bool HostWorker::TryStep(std::uint32_t index) {
  Block& block = *blocks_[index];
  if (block.busy.exchange(true, std::memory_order_acquire)) return false;
  StepResult result = StepResult::kIdle;
  bool last = false;
  if (!block.left) {
    result = Step(index, block);
    if (result == StepResult::kLeft) {
      block.left = true;
      last = resident_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
  }
  block.busy.store(false, std::memory_order_release);
  if (last) EndLaunch();
  if ((last || result == StepResult::kWorked) && options_.on_progress) options_.on_progress();
  return result != StepResult::kIdle;
}

bool HostWorker::WaitForLaunch() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
  return !pending_.empty();
}

void HostWorker::ThreadMain(std::uint64_t seed) {
  std::uint64_t random = seed;
  while (WaitForLaunch()) {
    std::uint32_t idle = 0;
    while (resident_.load(std::memory_order_acquire) != 0) {
      if (TryStep(static_cast<std::uint32_t>(NextRandom(random) % options_.blocks))) {
        idle = 0;
      } else if (++idle < kYieldsBeforeSleep) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(kIdleSleep);
      }
    }
  }
}

}  // namespace gpuos::worker
