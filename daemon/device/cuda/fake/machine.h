// The fake GPU: all state behind the driver's entry points.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_FAKE_MACHINE_H_
#define GPUOS_DAEMON_DEVICE_CUDA_FAKE_MACHINE_H_

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "daemon/device/cuda/fake/call_log.h"
#include "daemon/device/cuda/fake/device_heap.h"
#include "kernels/abi/worker_state.h"
#include "kernels/worker/host_worker.h"

namespace gpuos::device::fake {

// What a process's environment makes of the fake (control.h).
struct Setting {
  int devices = 1;
  int multiprocessors = 4;
  int mps = 0;
  int version = 13000;
  int synchronous = 0;

  static Setting FromEnvironment();
};

// A stream: copies wait in it until somebody synchronizes it, so that a caller who forgets to do so
// sees stale bytes.
struct Stream {
  std::vector<std::function<void()>> pending;
  bool has_kernels = false;

  void Flush();
};

struct Event {
  Stream* stream = nullptr;    // Recorded there; null if never.
  std::uint64_t launches = 0;  // All launches before it.
};

// The one machine of the process. Thread-safe, except that one stream is used by one thread.
class Machine {
 public:
  // Never destroyed: the worker's threads may outlive main().
  static Machine& Get();

  // Read anew each time, so that a test may change it.
  Setting setting() const { return Setting::FromEnvironment(); }
  CallLog& calls() { return calls_; }
  DeviceHeap& heap() { return heap_; }

  // Notes the call (call_log.h).
  CUresult Enter(const char* name, Waits waits = Waits::kNo);

  // Runs the real worker on threads, asynchronously, behind earlier launches.
  CUresult LaunchWorker(std::uint32_t blocks, abi::WorkerState* state, std::uint64_t launch);
  std::uint64_t launched() const { return launched_.load(); }
  std::uint64_t finished() const;
  bool worker_runs() const { return finished() != launched(); }

  // Streams, events, modules and contexts that exist.
  std::atomic<std::int64_t> objects{0};

 private:
  Machine() = default;

  CallLog calls_;
  DeviceHeap heap_;
  mutable std::mutex mutex_;
  std::unique_ptr<worker::HostWorker> worker_;  // Guarded by mutex_; made at the first launch.
  std::atomic<std::uint64_t> launched_{0};
};

}  // namespace gpuos::device::fake

#endif  // GPUOS_DAEMON_DEVICE_CUDA_FAKE_MACHINE_H_
