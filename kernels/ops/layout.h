// Views rewritten without moving an element: broadcast, reordered, with dimensions merged.
// Pure functions.
#ifndef GPUOS_KERNELS_OPS_LAYOUT_H_
#define GPUOS_KERNELS_OPS_LAYOUT_H_

#include <string>

#include "absl/types/span.h"
#include "kernels/abi/program.h"

namespace gpuos::ops {

// "[2, 3]"; "[]" for a view without dimensions.
std::string ShapeText(const abi::View& view);

bool SameShape(const abi::View& a, const abi::View& b);

// Gives `view` the shape of `shape`: missing dimensions in front and dimensions of size 1 get
// stride 0. Returns false, and leaves `view` as it was, if another size differs.
bool BroadcastTo(const abi::View& shape, abi::View& view);

// For views of one shape whose elements may be visited in any order: brings the dimensions into the
// order of the first view's strides, largest outermost, drops those of size 1 and merges neighbours
// where every view allows it. Equal elements keep equal linear indices.
void Coalesce(absl::Span<abi::View> views);

// Whether element i lies at i, rows major. True for a view without elements.
bool IsContiguous(const abi::View& view);

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_LAYOUT_H_
