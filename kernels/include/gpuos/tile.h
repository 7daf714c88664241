// The part of a task that one call works on: elements or rows, shared out among the block's
// threads.
#ifndef GPUOS_TILE_H_
#define GPUOS_TILE_H_

#include <cstdint>

#include "gpuos/block.h"
#include "gpuos/call.h"
#include "gpuos/team.h"
#include "gpuos/tensor.h"
#include "gpuos/unroll.h"

namespace gpuos {

// Units (elements, rows) from `begin` up to but without `end`.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// This call's share of `count` units. May be empty.
GPUOS_INLINE Range TileRange(const Call& call, std::uint64_t count) {
  const std::uint64_t begin = call.tile * call.tile_size;
  if (begin >= count) return {count, count};
  return {begin, count - begin < call.tile_size ? count : begin + call.tile_size};
}

// Calls `f(index)` for each element of the tile, each by one thread: linear indices into operand 0,
// and so into all operands of an operator whose shape rule is elementwise.
template <typename F>
GPUOS_INLINE void ForEachElement(const Call& call, F f) {
  const Range range = TileRange(call, static_cast<std::uint64_t>(call.views[0].elements));
  GPUOS_NO_UNROLL
  for (std::uint64_t i = range.begin + ThreadIndex(); i < range.end; i += ThreadCount()) f(i);
}

// Calls `f(team, row)` for each of the tile's rows, out of `rows`, by all threads of a team. Short
// rows are worked on by a warp each, long ones by the whole block; which one follows from `columns`
// alone, so a row's result does not depend on the rows beside it. `f` must not call SyncBlock().
template <typename F>
GPUOS_INLINE void ForEachRow(const Call& call, std::uint64_t rows, std::uint64_t columns, F f) {
  const Range range = TileRange(call, rows);
#ifdef __CUDACC__
  constexpr std::uint64_t kWarpColumns = 256;
  if (columns <= kWarpColumns) {
    const std::uint32_t warps = ThreadCount() / kWarpSize;
    const std::uint64_t first = range.begin + ThreadIndex() / kWarpSize;
    GPUOS_NO_UNROLL
    for (std::uint64_t row = first; row < range.end; row += warps) f(Team::Warp(), row);
    return;
  }
#else
  static_cast<void>(columns);
#endif
  GPUOS_NO_UNROLL
  for (std::uint64_t row = range.begin; row < range.end; ++row) f(Team::Block(), row);
}

}  // namespace gpuos

#endif  // GPUOS_TILE_H_
