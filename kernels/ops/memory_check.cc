#include "kernels/ops/memory_check.h"

#include <cstddef>

#include "kernels/ops/layout.h"
#include "kernels/ops/memory_overlap.h"
#include "kernels/ops/refusal.h"

namespace gpuos::ops {
namespace {

absl::Status CheckOutput(const Signature& signature, std::size_t index, const abi::View& view) {
  switch (OverlapsItself(view)) {
    case Overlap::kNone:
      return absl::OkStatus();
    case Overlap::kSome:
      return Refuse(OperandText(signature, index), " has shape ", ShapeText(view),
                    " and strides under which several elements share one address: "
                    "write to a tensor of its own, or copy");
    case Overlap::kUnknown:
      break;
  }
  return Refuse(OperandText(signature, index), " has shape ", ShapeText(view),
                " and strides that are too entangled to show that no two elements "
                "share an address: write to a contiguous tensor, then copy");
}

absl::Status CheckPair(const Signature& signature, absl::Span<const abi::View> views,
                       std::size_t output, std::size_t other) {
  const bool in_place_allowed = signature.rule == ShapeRule::kElementwise &&
                                signature.operands[other].access == Access::kRead;
  if (in_place_allowed && IsSameView(views[output], views[other])) return absl::OkStatus();
  switch (Overlaps(views[output], views[other])) {
    case Overlap::kNone:
      return absl::OkStatus();
    case Overlap::kSome:
      return Refuse(OperandText(signature, output), " shares memory with ",
                    OperandText(signature, other), "; ", signature.name,
                    in_place_allowed ? " can work in place only on the very same view"
                                     : " cannot work in place",
                    ": write to another tensor");
    case Overlap::kUnknown:
      break;
  }
  return Refuse(OperandText(signature, output), " and ", OperandText(signature, other),
                " interleave in memory under strides that are too entangled to show "
                "that they are disjoint: copy one to a tensor of its own");
}

}  // namespace

absl::Status CheckMemory(const Signature& signature, absl::Span<const abi::View> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (signature.operands[i].access != Access::kWrite) continue;
    absl::Status status = CheckOutput(signature, i, views[i]);
    for (std::size_t k = 0; k < views.size() && status.ok(); ++k) {
      if (k != i) status = CheckPair(signature, views, i, k);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gpuos::ops
