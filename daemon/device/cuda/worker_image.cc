#include "daemon/device/cuda/worker_image.h"

#include "daemon/device/cuda/worker_cubin.h"

namespace gpuos::device {

absl::Span<const std::byte> WorkerImage() {
  return {reinterpret_cast<const std::byte*>(gpuos_worker_cubin), gpuos_worker_cubin_size};
}

}  // namespace gpuos::device
