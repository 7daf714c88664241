// Test only: programs written down by hand, without the checks of daemon/program.
#ifndef GPUOS_KERNELS_WORKER_HAND_MADE_IMAGE_H_
#define GPUOS_KERNELS_WORKER_HAND_MADE_IMAGE_H_

#include <cstdint>
#include <vector>

#include "kernels/abi/program.h"

namespace gpuos::worker {

struct HandMadeTask {
  std::uint32_t op = 0;
  std::uint32_t tiles = 1;
  std::vector<std::uint32_t> successors;
  std::vector<abi::View> views;
  std::int64_t attributes[abi::kMaxAttributes] = {};
  std::uint64_t tile_size = 1;
};

// abi::Program and its parts, as 8-byte words so that it is aligned. Predecessor counts and roots
// follow from the successors.
std::vector<std::uint64_t> MakeImage(const std::vector<HandMadeTask>& tasks,
                                     std::uint32_t slot_count, std::uint32_t width);

}  // namespace gpuos::worker

#endif  // GPUOS_KERNELS_WORKER_HAND_MADE_IMAGE_H_
