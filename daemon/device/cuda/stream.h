// A CUDA stream that waits for no other.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_STREAM_H_
#define GPUOS_DAEMON_DEVICE_CUDA_STREAM_H_

#include <cuda.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/device/cuda/driver.h"

namespace gpuos::device {

// Owns the stream. Thread-compatible. Driver and context must outlive it.
class Stream {
 public:
  // In the current context. Does not wait for the worker.
  static absl::StatusOr<std::unique_ptr<Stream>> Create(const Driver& driver);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  CUstream get() const { return handle_; }

  // Blocks until what was put into this stream is done. Not for the stream that holds the worker.
  absl::Status Synchronize() const;

 private:
  Stream(const Driver& driver, CUstream handle) : driver_(driver), handle_(handle) {}

  const Driver& driver_;
  const CUstream handle_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_STREAM_H_
