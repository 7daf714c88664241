#include "daemon/device/host/host_device.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/device/host/event_descriptor.h"
#include "daemon/device/host/host_memory.h"
#include "daemon/device/host/host_segments.h"
#include "daemon/device/host/machine.h"
#include "kernels/abi/worker_state.h"
#include "kernels/worker/host_worker.h"

namespace gpuos::device {
namespace {

class HostDeviceWorker final : public Worker {
 public:
  HostDeviceWorker(const HostOptions& options, const EventDescriptor& progress)
      : table_(options.table),
        blocks_(options.blocks),
        worker_({.threads = options.threads,
                 .blocks = options.blocks,
                 .seed = options.seed,
                 .on_progress = [&progress] { progress.Signal(); }}) {}

  absl::Status Launch(DeviceAddress state, std::uint64_t launch) override {
    worker_.Launch(reinterpret_cast<abi::WorkerState*>(state), launch);
    return absl::OkStatus();
  }
  absl::StatusOr<std::uint64_t> FinishedLaunches() override { return worker_.finished(); }
  DeviceAddress BuiltinTable() const override { return table_; }
  std::uint32_t runner_blocks() const override { return blocks_ - 1; }

 private:
  const DeviceAddress table_;
  const std::uint32_t blocks_;
  worker::HostWorker worker_;
};

class HostDevice final : public Device {
 public:
  HostDevice(const HostOptions& options, EventDescriptor progress)
      : info_{.name = "host:0",
              .uuid = "",
              .model = ProcessorModel(),
              .memory_bytes = options.memory_bytes,
              .sharing = "threads",
              .remark = "operators run on CPU threads of the executor, with its rights"},
        progress_(std::move(progress)),
        memory_(options.memory_bytes),
        segments_(options.memory_bytes),
        worker_(options, progress_) {}

  const Info& info() const override { return info_; }
  Memory& memory() override { return memory_; }
  Segments& segments() override { return segments_; }
  Worker& worker() override { return worker_; }
  absl::StatusOr<SharedBytes> AllocateShared(std::size_t bytes) override {
    return memory_.AllocateShared(bytes);
  }
  int completion_descriptor() const override { return progress_.get(); }

 private:
  const Info info_;
  const EventDescriptor progress_;
  HostMemory memory_;
  HostSegments segments_;
  HostDeviceWorker worker_;  // Last: its threads end before what they use.
};

HostOptions WithDefaults(HostOptions options) {
  if (options.threads == 0) options.threads = std::max(2u, std::thread::hardware_concurrency());
  if (options.blocks == 0) options.blocks = options.threads + 2;
  if (options.memory_bytes == 0) options.memory_bytes = MachineMemoryBytes();
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> CreateHostDevice(const HostOptions& given) {
  const HostOptions options = WithDefaults(given);
  if (options.blocks < 2) {
    return absl::InvalidArgumentError(
        "blocks is 1; the worker needs at least 2, one to schedule and one to run operators");
  }
  if (options.table == 0) {
    return absl::InvalidArgumentError(
        "table is 0; give the address of the operators' code addresses");
  }
  absl::StatusOr<EventDescriptor> progress = EventDescriptor::Create();
  if (!progress.ok()) return progress.status();
  return std::make_unique<HostDevice>(options, *std::move(progress));
}

}  // namespace gpuos::device
