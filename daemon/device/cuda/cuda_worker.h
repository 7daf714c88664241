// The persistent worker on a GPU.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_CUDA_WORKER_H_
#define GPUOS_DAEMON_DEVICE_CUDA_CUDA_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/cuda/launch_log.h"
#include "daemon/device/cuda/module.h"
#include "daemon/device/cuda/stream.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// Owns the worker's module and the one stream on which its launches run one after another.
// Thread-compatible: the executor's thread. Driver and context must outlive it. No worker may be
// resident when it is destroyed. DATA_LOSS from any call: a launch ended by a fault.
class CudaWorker final : public Worker {
 public:
  // Threads of a block: what the worker was compiled for.
  static constexpr std::uint32_t kThreads = 256;

  // Loads `image`. A launch has `blocks` blocks, at least 2: one schedules.
  static absl::StatusOr<std::unique_ptr<CudaWorker>> Create(const Driver& driver, int ordinal,
                                                            absl::Span<const std::byte> image,
                                                            std::uint32_t blocks);

  absl::Status Launch(DeviceAddress state, std::uint64_t launch) override;
  absl::StatusOr<std::uint64_t> FinishedLaunches() override { return log_.Finished(); }
  DeviceAddress BuiltinTable() const override { return module_->builtin_table(); }
  std::uint32_t runner_blocks() const override { return blocks_ - 1; }

  // Whether a launch has not ended, or it is not known because the device has failed.
  bool resident();

 private:
  CudaWorker(const Driver& driver, std::unique_ptr<Module> module, std::unique_ptr<Stream> stream,
             std::uint32_t blocks)
      : driver_(driver),
        module_(std::move(module)),
        stream_(std::move(stream)),
        blocks_(blocks),
        log_(driver) {}

  const Driver& driver_;
  const std::unique_ptr<Module> module_;
  const std::unique_ptr<Stream> stream_;
  const std::uint32_t blocks_;
  LaunchLog log_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_CUDA_WORKER_H_
