#include "daemon/device/cuda/stream.h"

namespace gpuos::device {

absl::StatusOr<std::unique_ptr<Stream>> Stream::Create(const Driver& driver) {
  CUstream handle = nullptr;
  const absl::Status status =
      driver.Check(driver.api().cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (!status.ok()) return status;
  return std::unique_ptr<Stream>(new Stream(driver, handle));
}

Stream::~Stream() { driver_.api().cuStreamDestroy(handle_); }

absl::Status Stream::Synchronize() const {
  return driver_.Check(driver_.api().cuStreamSynchronize(handle_), "cuStreamSynchronize");
}

}  // namespace gpuos::device
