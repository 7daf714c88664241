// Operators that compute each element of their output from the elements at the same place of their
// inputs: one function of numbers is the whole operator.
#ifndef GPUOS_MAP_H_
#define GPUOS_MAP_H_

#include <cstdint>

#include "gpuos/call.h"
#include "gpuos/element.h"
#include "gpuos/tensor.h"
#include "gpuos/tile.h"
#include "gpuos/unroll.h"

namespace gpuos {

// Whether element i of every operand lies at i.
GPUOS_INLINE bool AllContiguous(const Call& call) {
  bool all = true;
  GPUOS_NO_UNROLL
  for (std::uint32_t v = 0; v < call.view_count; ++v) all = all && call.views[v].contiguous != 0;
  return all;
}

// Calls `store(index, load(index))` for each element of the tile. Several elements are loaded
// before the first is stored, so that their loads are in flight together.
template <typename T, typename LoadFunction, typename StoreFunction>
GPUOS_INLINE void Transfer(const Call& call, LoadFunction load, StoreFunction store) {
  constexpr std::uint32_t kTogether = 4;
  const Range range = TileRange(call, static_cast<std::uint64_t>(call.views[0].elements));
  const std::uint64_t step = ThreadCount();
  std::uint64_t i = range.begin + ThreadIndex();
  GPUOS_NO_UNROLL
  for (; i + (kTogether - 1) * step < range.end; i += kTogether * step) {
    T values[kTogether];
    GPUOS_UNROLL
    for (std::uint32_t k = 0; k < kTogether; ++k) values[k] = load(i + k * step);
    GPUOS_UNROLL
    for (std::uint32_t k = 0; k < kTogether; ++k) store(i + k * step, values[k]);
  }
  GPUOS_NO_UNROLL
  for (; i < range.end; i += step) store(i, load(i));
}

// out = f() for each element of the tile.
template <typename Out, typename F>
GPUOS_INLINE void Map(const Call& call, F f) {
  const Tensor<Out> out(call, 0);
  ForEachElement(call, [&](std::uint64_t i) { out.Store(i, f()); });
}

// out = f(a) for each element of the tile.
template <typename Out, typename A, typename F>
GPUOS_INLINE void Map(const Call& call, F f) {
  const Tensor<Out> out(call, 0);
  const Tensor<A> a(call, 1);
  if (AllContiguous(call)) {
    Transfer<Out>(
        call, [&](std::uint64_t i) { return f(a.At(i)); },
        [&](std::uint64_t i, Out value) { out.StoreAt(i, value); });
  } else {
    ForEachElement(call, [&](std::uint64_t i) {
      const Offsets<2> at(call.views, i);
      out.StoreAt(at.of[0], f(a.At(at.of[1])));
    });
  }
}

// out = f(a, b) for each element of the tile.
template <typename Out, typename A, typename B, typename F>
GPUOS_INLINE void Map(const Call& call, F f) {
  const Tensor<Out> out(call, 0);
  const Tensor<A> a(call, 1);
  const Tensor<B> b(call, 2);
  if (AllContiguous(call)) {
    Transfer<Out>(
        call, [&](std::uint64_t i) { return f(a.At(i), b.At(i)); },
        [&](std::uint64_t i, Out value) { out.StoreAt(i, value); });
  } else {
    ForEachElement(call, [&](std::uint64_t i) {
      const Offsets<3> at(call.views, i);
      out.StoreAt(at.of[0], f(a.At(at.of[1]), b.At(at.of[2])));
    });
  }
}

// out = f(a, b, c) for each element of the tile.
template <typename Out, typename A, typename B, typename C, typename F>
GPUOS_INLINE void Map(const Call& call, F f) {
  const Tensor<Out> out(call, 0);
  const Tensor<A> a(call, 1);
  const Tensor<B> b(call, 2);
  const Tensor<C> c(call, 3);
  if (AllContiguous(call)) {
    Transfer<Out>(
        call, [&](std::uint64_t i) { return f(a.At(i), b.At(i), c.At(i)); },
        [&](std::uint64_t i, Out value) { out.StoreAt(i, value); });
  } else {
    ForEachElement(call, [&](std::uint64_t i) {
      const Offsets<4> at(call.views, i);
      out.StoreAt(at.of[0], f(a.At(at.of[1]), b.At(at.of[2]), c.At(at.of[3])));
    });
  }
}

}  // namespace gpuos

#endif  // GPUOS_MAP_H_
