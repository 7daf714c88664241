// How matmul cuts its output; known to the planner and to the operator.
#ifndef GPUOS_KERNELS_OPS_MATMUL_SHAPE_H_
#define GPUOS_KERNELS_OPS_MATMUL_SHAPE_H_

#include <cstdint>

namespace gpuos::builtin {

// A patch is kPatchRows x kPatchColumns elements of the output. A block keeps its sums and the
// stretch of kPatchDepth rows and columns that it is multiplying in scratch memory.
inline constexpr std::uint32_t kPatchRows = 32;
inline constexpr std::uint32_t kPatchColumns = 32;
inline constexpr std::uint32_t kPatchDepth = 64;

// Patches along a side of `size` elements.
constexpr std::uint64_t PatchesAlong(std::uint64_t size, std::uint32_t patch) {
  return size / patch + (size % patch != 0 ? 1 : 0);
}

}  // namespace gpuos::builtin

#endif  // GPUOS_KERNELS_OPS_MATMUL_SHAPE_H_
