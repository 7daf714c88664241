#include "daemon/device/cuda/cuda_worker.h"

#include "absl/strings/str_cat.h"

namespace gpuos::device {

absl::StatusOr<std::unique_ptr<CudaWorker>> CudaWorker::Create(const Driver& driver, int ordinal,
                                                               absl::Span<const std::byte> image,
                                                               std::uint32_t blocks) {
  absl::StatusOr<std::unique_ptr<Module>> module = Module::Load(driver, ordinal, image);
  if (!module.ok()) return module.status();
  absl::StatusOr<std::unique_ptr<Stream>> stream = Stream::Create(driver);
  if (!stream.ok()) return stream.status();
  return std::unique_ptr<CudaWorker>(
      new CudaWorker(driver, *std::move(module), *std::move(stream), blocks));
}

absl::Status CudaWorker::Launch(DeviceAddress state, std::uint64_t launch) {
  void* arguments[] = {&state, &launch};
  const absl::Status status = driver_.Check(
      driver_.api().cuLaunchKernel(module_->worker(), blocks_, 1, 1, kThreads, 1, 1,
                                   /*sharedMemBytes=*/0, stream_->get(), arguments,
                                   /*extra=*/nullptr),
      "cuLaunchKernel", absl::StrCat("of the worker, launch ", launch, ", ", blocks_, " blocks,"));
  if (!status.ok()) return status;
  return log_.Record(stream_->get());
}

bool CudaWorker::resident() {
  const absl::StatusOr<std::uint64_t> finished = FinishedLaunches();
  return !finished.ok() || *finished != log_.recorded();
}

}  // namespace gpuos::device
