// How large a tile is. One tile runs on one block; a task of fewer tiles than there are blocks
// leaves blocks to other tasks.
#ifndef GPUOS_KERNELS_OPS_TUNING_H_
#define GPUOS_KERNELS_OPS_TUNING_H_

#include <cstdint>

namespace gpuos::ops {

// Elements of an elementwise tile, and about as many in a tile of whole rows. 16 for each thread of
// a block of 256: on an H200 a tile costs about 0.65 us, handing it out 0.01 us, and 132 blocks
// share out half a million elements. Larger tiles would leave blocks idle, smaller ones would cost
// more in handing out than in work.
inline constexpr std::uint64_t kTileElements = 4096;

// Patches of the output (matmul_shape.h) that make a tile of matmul.
inline constexpr std::uint64_t kTilePatches = 1;

// Tiles of one task. Beyond, tiles are made larger.
inline constexpr std::uint64_t kMaxTiles = 0x7fffffff;

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_TUNING_H_
