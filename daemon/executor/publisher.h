// Batches that the worker has, and the room for more: windows, ready queue, batch states.
#ifndef GPUOS_DAEMON_EXECUTOR_PUBLISHER_H_
#define GPUOS_DAEMON_EXECUTOR_PUBLISHER_H_

#include <cstdint>
#include <vector>

#include "daemon/device/queue_writer.h"
#include "daemon/executor/arena.h"
#include "daemon/executor/batch.h"
#include "daemon/executor/worker_memory.h"
#include "kernels/abi/limits.h"
#include "kernels/abi/queue.h"

namespace gpuos::executor {

// A batch that the worker has finished.
struct CompletedBatch {
  Batch* batch = nullptr;
  device::CompletionView completion;
};

// Thread-compatible. Owns neither batches nor memory; a batch must live until TakeCompleted has
// returned it. Nothing blocks.
class Publisher {
 public:
  // `table` is the address of the operators' code addresses.
  Publisher(const WorkerMemory& memory, abi::DeviceAddress table);
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  std::uint32_t windows_free() const { return static_cast<std::uint32_t>(idle_windows_.size()); }
  std::uint64_t ready_free() const { return ready_free_; }
  bool StateFits(const LoadedProgram& program) const { return states_.Fits(program.state_bytes); }
  std::uint32_t running() const { return static_cast<std::uint32_t>(running_.size()); }
  // Since the start.
  std::uint64_t completed() const { return completed_; }
  const Arena& states() const { return states_; }

  // REQUIRES: a window is free, the program's ready items and state fit.
  void Publish(Batch& batch);

  // Takes every completion that has come. Window, ready items and state of the batches are free
  // again.
  std::vector<CompletedBatch> TakeCompleted();

  // See device::QueueWriter, which also says why the queue does not run over.
  void PublishPark() { queue_.PublishPark(); }
  abi::Heartbeat heartbeat() const { return queue_.heartbeat(); }

 private:
  struct Running {
    Batch* batch;
    std::uint32_t window;
    std::uint32_t ready_items;
    abi::DeviceAddress state;
  };

  // Writes the batch's addresses where the worker finds them.
  abi::DeviceAddress WriteBindings(std::uint32_t window, const Batch& batch);

  device::QueueWriter queue_;
  const device::SharedBytes bindings_;
  const abi::DeviceAddress table_;
  Arena states_;
  std::uint64_t ready_free_;
  std::uint64_t next_id_ = 1;
  std::uint64_t completed_ = 0;
  std::vector<std::uint32_t> idle_windows_;
  std::vector<Running> running_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_PUBLISHER_H_
