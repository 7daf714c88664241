// The worker's cubin, inside of this program. Link exactly one of :worker_image (what is shipped)
// and :worker_image_with_test (test operators too).
#ifndef GPUOS_DAEMON_DEVICE_CUDA_WORKER_IMAGE_H_
#define GPUOS_DAEMON_DEVICE_CUDA_WORKER_IMAGE_H_

#include <cstddef>

#include "absl/types/span.h"

namespace gpuos::device {

// Lives as long as the program.
absl::Span<const std::byte> WorkerImage();

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_WORKER_IMAGE_H_
