#include "daemon/device/cuda/launch_log.h"

#include "absl/strings/str_cat.h"

namespace gpuos::device {

LaunchLog::~LaunchLog() {
  for (const CUevent event : running_) driver_.api().cuEventDestroy(event);
  for (const CUevent event : idle_) driver_.api().cuEventDestroy(event);
}

absl::StatusOr<CUevent> LaunchLog::TakeEvent() {
  CUevent event = nullptr;
  if (!idle_.empty()) {
    event = idle_.back();
    idle_.pop_back();
    return event;
  }
  const absl::Status status =
      driver_.Check(driver_.api().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  if (!status.ok()) return status;
  return event;
}

absl::Status LaunchLog::Record(CUstream stream) {
  const absl::StatusOr<CUevent> event = TakeEvent();
  if (!event.ok()) return event.status();
  const absl::Status status =
      driver_.Check(driver_.api().cuEventRecord(*event, stream), "cuEventRecord",
                    absl::StrCat("behind launch ", recorded() + 1, " of the worker"));
  if (status.ok()) {
    running_.push_back(*event);
  } else {
    idle_.push_back(*event);
  }
  return status;
}

absl::StatusOr<std::uint64_t> LaunchLog::Finished() {
  while (!running_.empty()) {
    const CUresult result = driver_.api().cuEventQuery(running_.front());
    if (result == CUDA_ERROR_NOT_READY) break;
    const absl::Status status = driver_.Check(
        result, "cuEventQuery", absl::StrCat("of launch ", finished_ + 1, " of the worker"));
    if (!status.ok()) return status;
    idle_.push_back(running_.front());
    running_.pop_front();
    ++finished_;
  }
  return finished_;
}

}  // namespace gpuos::device
