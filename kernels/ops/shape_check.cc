#include "kernels/ops/shape_check.h"

#include <cstddef>
#include <string>

#include "kernels/ops/layout.h"
#include "kernels/ops/refusal.h"

namespace gpuos::ops {
namespace {

absl::Status BroadcastInputs(const Signature& signature, absl::Span<abi::View> views) {
  for (std::size_t i = 1; i < views.size(); ++i) {
    const std::string shape = ShapeText(views[i]);
    if (BroadcastTo(views[0], views[i])) continue;
    return Refuse(OperandText(signature, i), " has shape ", shape,
                  ", which does not broadcast to the output's ", ShapeText(views[0]));
  }
  return absl::OkStatus();
}

// The shape of `view` without its last dimension; a view without dimensions is one row of one.
abi::View WithoutColumnsOf(const abi::View& view) {
  abi::View rows = view;
  if (rows.dims > 0) --rows.dims;
  return rows;
}

absl::Status CheckRows(const Signature& signature, absl::Span<const abi::View> views) {
  const bool reduces = signature.rule == ShapeRule::kReduceLast;
  const abi::View want = reduces ? WithoutColumnsOf(views[1]) : views[1];
  if (!SameShape(views[0], want)) {
    return Refuse(OperandText(signature, 0), " has shape ", ShapeText(views[0]), "; ",
                  signature.name, " of ", ShapeText(views[1]),
                  reduces ? " over its last dimension has " : " has ", ShapeText(want));
  }
  if (signature.needs_columns && ColumnsOf(views[1]) == 0) {
    return Refuse(OperandText(signature, 1), " has shape ", ShapeText(views[1]),
                  ", whose last dimension is empty: there is no ", signature.name, " of nothing");
  }
  return absl::OkStatus();
}

absl::Status CheckMatmul(const Signature& signature, absl::Span<const abi::View> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].dims == 2) continue;
    return Refuse(OperandText(signature, i), " has shape ", ShapeText(views[i]), "; ",
                  signature.name, " takes 2 dimensions");
  }
  const abi::View& a = views[1];
  const abi::View& b = views[2];
  if (a.sizes[1] != b.sizes[0]) {
    return Refuse(OperandText(signature, 1), " has shape ", ShapeText(a), " and ",
                  OperandText(signature, 2), " has ", ShapeText(b), ": the ", a.sizes[1],
                  " columns of the one are not the ", b.sizes[0], " rows of the other");
  }
  if (views[0].sizes[0] == a.sizes[0] && views[0].sizes[1] == b.sizes[1]) return absl::OkStatus();
  return Refuse(OperandText(signature, 0), " has shape ", ShapeText(views[0]), "; ", signature.name,
                " of ", ShapeText(a), " and ", ShapeText(b), " is [", a.sizes[0], ", ", b.sizes[1],
                "]");
}

}  // namespace

std::int64_t ColumnsOf(const abi::View& view) {
  return view.dims == 0 ? 1 : view.sizes[view.dims - 1];
}

absl::Status CheckShapes(const Signature& signature, absl::Span<abi::View> views) {
  switch (signature.rule) {
    case ShapeRule::kElementwise:
      return BroadcastInputs(signature, views);
    case ShapeRule::kReduceLast:
    case ShapeRule::kRowwise:
      return CheckRows(signature, views);
    case ShapeRule::kMatmul:
      return CheckMatmul(signature, views);
    case ShapeRule::kUnconstrained:
      break;
  }
  return absl::OkStatus();
}

}  // namespace gpuos::ops
