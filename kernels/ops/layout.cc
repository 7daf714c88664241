#include "kernels/ops/layout.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gpuos::ops {
namespace {

void SetDimension(abi::View& view, int dimension, std::int64_t size, std::int64_t stride) {
  view.sizes[dimension] = size;
  view.strides[dimension] = stride;
}

// Forgets dimensions from `dims` on, as unused ones are written.
void Shorten(abi::View& view, int dims) {
  for (int d = dims; d < view.dims; ++d) SetDimension(view, d, 1, 0);
  view.dims = static_cast<std::uint8_t>(dims);
}

void SwapDimensions(absl::Span<abi::View> views, int a, int b) {
  for (abi::View& view : views) {
    std::swap(view.sizes[a], view.sizes[b]);
    std::swap(view.strides[a], view.strides[b]);
  }
}

// An insertion sort over at most eight dimensions, by the first view's strides. Stable, so that
// views in the usual order are left as they are.
void SortDimensions(absl::Span<abi::View> views) {
  const abi::View& first = views.front();
  for (int end = 1; end < first.dims; ++end) {
    for (int d = end; d > 0 && first.strides[d - 1] < first.strides[d]; --d) {
      SwapDimensions(views, d - 1, d);
    }
  }
}

void DropOnes(absl::Span<abi::View> views) {
  for (abi::View& view : views) {
    int kept = 0;
    for (int d = 0; d < view.dims; ++d) {
      if (view.sizes[d] != 1) SetDimension(view, kept++, view.sizes[d], view.strides[d]);
    }
    Shorten(view, kept);
  }
}

// Whether the step from one index of `outer` to the next is a whole run of `inner`.
bool Mergeable(absl::Span<const abi::View> views, int outer, int inner) {
  return std::all_of(views.begin(), views.end(), [&](const abi::View& view) {
    std::int64_t run = 0;
    return !__builtin_mul_overflow(view.strides[inner], view.sizes[inner], &run) &&
           view.strides[outer] == run;
  });
}

void MergeNeighbours(absl::Span<abi::View> views) {
  const int dims = views.front().dims;
  if (dims == 0) return;
  int last = 0;  // The dimension that may still grow.
  for (int d = 1; d < dims; ++d) {
    const bool merge = Mergeable(views, last, d);
    if (!merge) ++last;
    for (abi::View& view : views) {
      const std::int64_t size = view.sizes[d] * (merge ? view.sizes[last] : 1);
      SetDimension(view, last, size, view.strides[d]);
    }
  }
  for (abi::View& view : views) Shorten(view, last + 1);
}

}  // namespace

std::string ShapeText(const abi::View& view) {
  return absl::StrCat("[", absl::StrJoin(view.sizes, view.sizes + view.dims, ", "), "]");
}

bool SameShape(const abi::View& a, const abi::View& b) {
  return a.dims == b.dims && std::equal(a.sizes, a.sizes + a.dims, b.sizes);
}

bool BroadcastTo(const abi::View& shape, abi::View& view) {
  if (view.dims > shape.dims) return false;
  abi::View result = view;
  result.dims = shape.dims;
  result.elements = shape.elements;
  const int missing = shape.dims - view.dims;
  for (int d = 0; d < shape.dims; ++d) {
    const bool absent = d < missing;
    const std::int64_t size = absent ? 1 : view.sizes[d - missing];
    if (size != shape.sizes[d] && size != 1) return false;
    const std::int64_t stride = absent || size == 1 ? 0 : view.strides[d - missing];
    SetDimension(result, d, shape.sizes[d], stride);
  }
  view = result;
  return true;
}

void Coalesce(absl::Span<abi::View> views) {
  if (views.front().elements == 0) {
    // Nothing will be visited; and products of sizes and strides need not fit.
    for (abi::View& view : views) {
      Shorten(view, std::min<int>(view.dims, 1));
      if (view.dims == 1) SetDimension(view, 0, 0, 1);
    }
    return;
  }
  DropOnes(views);
  SortDimensions(views);
  MergeNeighbours(views);
}

bool IsContiguous(const abi::View& view) {
  if (view.elements == 0) return true;
  std::int64_t run = 1;
  for (int d = view.dims; d-- > 0;) {
    if (view.sizes[d] == 1) continue;
    if (view.strides[d] != run) return false;
    run *= view.sizes[d];
  }
  return true;
}

}  // namespace gpuos::ops
