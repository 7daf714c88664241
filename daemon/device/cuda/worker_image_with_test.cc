#include "daemon/device/cuda/worker_image.h"
#include "daemon/device/cuda/worker_test_cubin.h"

namespace gpuos::device {

absl::Span<const std::byte> WorkerImage() {
  return {reinterpret_cast<const std::byte*>(gpuos_worker_test_cubin),
          gpuos_worker_test_cubin_size};
}

}  // namespace gpuos::device
