#include "daemon/device/cuda/cuda_device.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/device/cuda/context.h"
#include "daemon/device/cuda/cuda_memory.h"
#include "daemon/device/cuda/cuda_segments.h"
#include "daemon/device/cuda/cuda_worker.h"
#include "daemon/device/cuda/device_info.h"
#include "daemon/device/cuda/driver.h"

namespace gpuos::device {
namespace {

// What the device is made of, in the order in which it is made.
struct Parts {
  Info info;
  std::unique_ptr<Driver> driver;
  std::unique_ptr<Context> context;
  std::unique_ptr<CudaMemory> memory;
  std::unique_ptr<CudaWorker> worker;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(Parts parts)
      : parts_(std::move(parts)),
        segments_(*parts_.driver, parts_.info, [this] { return parts_.worker->resident(); }) {}

  const Info& info() const override { return parts_.info; }
  Memory& memory() override { return *parts_.memory; }
  Segments& segments() override { return segments_; }
  Worker& worker() override { return *parts_.worker; }
  absl::StatusOr<SharedBytes> AllocateShared(std::size_t bytes) override {
    return parts_.memory->AllocateShared(bytes);
  }
  int completion_descriptor() const override { return -1; }

 private:
  // Members go in reverse order: segments, worker, memory, context, driver.
  Parts parts_;
  CudaSegments segments_;
};

absl::StatusOr<std::uint32_t> CountBlocks(const Driver& driver, const CudaOptions& options) {
  if (options.blocks >= 2) return options.blocks;
  if (options.blocks == 1) {
    return absl::InvalidArgumentError(
        "blocks is 1; the worker needs at least 2, one to schedule and one to run operators");
  }
  const absl::StatusOr<int> multiprocessors =
      QueryAttribute(driver, options.ordinal, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (!multiprocessors.ok()) return multiprocessors.status();
  return static_cast<std::uint32_t>(*multiprocessors < 2 ? 2 : *multiprocessors);
}

// `parts` has driver and info.
absl::Status MakeInContext(const CudaOptions& options, std::uint32_t blocks, Parts& parts) {
  absl::StatusOr<std::unique_ptr<Context>> context =
      Context::Create(*parts.driver, options.ordinal, options.stack_bytes);
  if (!context.ok()) return context.status();
  parts.context = *std::move(context);
  absl::StatusOr<std::unique_ptr<CudaMemory>> memory =
      CudaMemory::Create(*parts.driver, parts.info.name);
  if (!memory.ok()) return memory.status();
  parts.memory = *std::move(memory);
  absl::StatusOr<std::unique_ptr<CudaWorker>> worker =
      CudaWorker::Create(*parts.driver, options.ordinal, options.image, blocks);
  if (!worker.ok()) return worker.status();
  parts.worker = *std::move(worker);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> CreateCudaDevice(const CudaOptions& options) {
  if (options.image.empty()) return absl::InvalidArgumentError("image is empty");
  Parts parts;
  absl::StatusOr<std::unique_ptr<Driver>> driver =
      Driver::Load(options.driver_library.empty() ? Driver::kLibrary : options.driver_library);
  if (!driver.ok()) return driver.status();
  parts.driver = *std::move(driver);
  absl::StatusOr<Info> info = QueryInfo(*parts.driver, options.ordinal);
  if (!info.ok()) return info.status();
  parts.info = *std::move(info);
  const absl::StatusOr<std::uint32_t> blocks = CountBlocks(*parts.driver, options);
  if (!blocks.ok()) return blocks.status();
  const absl::Status status = MakeInContext(options, *blocks, parts);
  if (!status.ok()) return status;
  return std::make_unique<CudaDevice>(std::move(parts));
}

}  // namespace gpuos::device
