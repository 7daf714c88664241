// The CUDA context that everything of a device lives in.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_CONTEXT_H_
#define GPUOS_DAEMON_DEVICE_CUDA_CONTEXT_H_

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "daemon/device/cuda/driver.h"

namespace gpuos::device {

// The device's primary context, retained as long as this lives and current on the thread that made
// it, which must be the one that uses the device. The primary one rather than one of our own: where
// the executor's core runs inside a client, PyTorch's memory lies in it and needs no import.
// Thread-compatible. The driver must outlive it.
class Context {
 public:
  // Retains the context and gives its threads `stack_bytes` of stack: the first launch fixes it for
  // operators that come later. Blocks while the driver makes the context (0.1-0.4 s).
  static absl::StatusOr<std::unique_ptr<Context>> Create(const Driver& driver, int ordinal,
                                                         std::size_t stack_bytes);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // Memory, streams and modules of the context must be gone.
  ~Context();

 private:
  Context(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {}

  const Driver& driver_;
  const CUdevice device_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_CONTEXT_H_
