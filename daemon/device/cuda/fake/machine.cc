#include "daemon/device/cuda/fake/machine.h"

#include <stdlib.h>

#include <chrono>
#include <thread>
#include <utility>

namespace gpuos::device::fake {
namespace {

// Enough for two operators that wait for each other beside the scheduling block.
constexpr std::uint32_t kThreads = 3;

int NumberFromEnvironment(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : atoi(value);
}

}  // namespace

Setting Setting::FromEnvironment() {
  const Setting usual;
  return {
      .devices = NumberFromEnvironment("GPUOS_FAKE_DEVICES", usual.devices),
      .multiprocessors = NumberFromEnvironment("GPUOS_FAKE_MULTIPROCESSORS", usual.multiprocessors),
      .mps = NumberFromEnvironment("GPUOS_FAKE_MPS", usual.mps),
      .version = NumberFromEnvironment("GPUOS_FAKE_DRIVER_VERSION", usual.version),
      .synchronous = NumberFromEnvironment("GPUOS_FAKE_SYNCHRONOUS", usual.synchronous)};
}

void Stream::Flush() {
  for (const std::function<void()>& copy : std::exchange(pending, {})) copy();
}

Machine& Machine::Get() {
  static auto& machine = *new Machine();
  return machine;
}

CUresult Machine::Enter(const char* name, Waits waits) {
  return calls_.Enter(name, waits, worker_runs());
}

std::uint64_t Machine::finished() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return worker_ == nullptr ? 0 : worker_->finished();
}

CUresult Machine::LaunchWorker(std::uint32_t blocks, abi::WorkerState* state,
                               std::uint64_t launch) {
  if (blocks < 2) return CUDA_ERROR_INVALID_VALUE;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (worker_ == nullptr) {
      worker_ = std::make_unique<worker::HostWorker>(worker::HostWorker::Options{
          .threads = kThreads, .blocks = blocks, .seed = 1, .on_progress = {}});
    }
    launched_.fetch_add(1);
    worker_->Launch(state, launch);
  }
  while (setting().synchronous != 0 && worker_runs()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return CUDA_SUCCESS;
}

}  // namespace gpuos::device::fake
