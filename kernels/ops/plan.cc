#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/ops/layout.h"
#include "kernels/ops/matmul_shape.h"
#include "kernels/ops/memory_overlap.h"
#include "kernels/ops/signature.h"
#include "kernels/ops/tuning.h"

namespace gpuos::ops {
namespace {

absl::Status Refuse(const std::string& sentence) { return absl::InvalidArgumentError(sentence); }

std::string DTypeText(abi::DType dtype) {
  switch (dtype) {
    case abi::DType::kF32:
      return "F32";
    case abi::DType::kI64:
      return "I64";
    case abi::DType::kBool:
      return "BOOL";
    case abi::DType::kNone:
      break;
  }
  return absl::StrCat("number ", static_cast<int>(dtype));
}

// "operand 1 (a)"
std::string Name(const Signature& signature, std::size_t index) {
  return absl::StrCat("operand ", index, " (", signature.operands[index].name, ")");
}

bool Accepts(const Operand& operand, abi::DType dtype) {
  return std::find(operand.dtypes.begin(), operand.dtypes.end(), dtype) != operand.dtypes.end();
}

absl::Status CheckCount(const Signature& signature, absl::Span<const abi::View> views) {
  if (views.size() == signature.operands.size()) return absl::OkStatus();
  return Refuse(absl::StrCat(signature.name, " takes ", signature.operands.size(),
                             " operands, outputs first; got ", views.size()));
}

absl::Status CheckAccepted(const Signature& signature, absl::Span<const abi::View> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Operand& operand = signature.operands[i];
    if (Accepts(operand, views[i].dtype)) continue;
    const auto text = [](std::string* out, abi::DType dtype) { out->append(DTypeText(dtype)); };
    return Refuse(absl::StrCat(
        Name(signature, i), " has dtype ", DTypeText(views[i].dtype), "; ", signature.name,
        " takes ", absl::StrJoin(operand.dtypes, " or ", text), " there: convert it with copy"));
  }
  return absl::OkStatus();
}

absl::Status CheckSameDType(const Signature& signature, absl::Span<const abi::View> views) {
  std::size_t first = views.size();
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (signature.operands[i].dtypes.size() < 2) continue;
    if (first == views.size()) first = i;
    if (views[i].dtype == views[first].dtype) continue;
    return Refuse(absl::StrCat(Name(signature, i), " has dtype ", DTypeText(views[i].dtype),
                               " and ", Name(signature, first), " has ",
                               DTypeText(views[first].dtype), "; ", signature.name,
                               " needs them equal: convert one with copy"));
  }
  return absl::OkStatus();
}

absl::Status CheckAccumulated(const Signature& signature, absl::Span<const abi::View> views) {
  const bool integral = views[1].dtype != abi::DType::kF32;
  const abi::DType want = integral ? abi::DType::kI64 : views[1].dtype;
  if (views[0].dtype == want) return absl::OkStatus();
  return Refuse(absl::StrCat(Name(signature, 0), " has dtype ", DTypeText(views[0].dtype), "; the ",
                             signature.name, " of ", DTypeText(views[1].dtype), " is ",
                             DTypeText(want)));
}

absl::Status CheckDTypes(const Signature& signature, absl::Span<const abi::View> views) {
  absl::Status status = CheckAccepted(signature, views);
  if (!status.ok()) return status;
  switch (signature.dtypes) {
    case DTypeRule::kSame:
      return CheckSameDType(signature, views);
    case DTypeRule::kAccumulate:
      return CheckAccumulated(signature, views);
    case DTypeRule::kFree:
      break;
  }
  return absl::OkStatus();
}

absl::Status BroadcastInputs(const Signature& signature, absl::Span<abi::View> views) {
  for (std::size_t i = 1; i < views.size(); ++i) {
    const std::string shape = ShapeText(views[i]);
    if (BroadcastTo(views[0], views[i])) continue;
    return Refuse(absl::StrCat(Name(signature, i), " has shape ", shape,
                               ", which does not broadcast to the output's ", ShapeText(views[0])));
  }
  return absl::OkStatus();
}

// The shape of `view` without its last dimension; a view without dimensions is one row of one.
abi::View WithoutColumns(const abi::View& view) {
  abi::View rows = view;
  if (rows.dims > 0) --rows.dims;
  return rows;
}

std::int64_t Columns(const abi::View& view) {
  return view.dims == 0 ? 1 : view.sizes[view.dims - 1];
}

absl::Status CheckRows(const Signature& signature, absl::Span<const abi::View> views) {
  const bool reduces = signature.rule == ShapeRule::kReduceLast;
  const abi::View want = reduces ? WithoutColumns(views[1]) : views[1];
  if (!SameShape(views[0], want)) {
    return Refuse(absl::StrCat(
        Name(signature, 0), " has shape ", ShapeText(views[0]), "; ", signature.name, " of ",
        ShapeText(views[1]), reduces ? " over its last dimension has " : " has ", ShapeText(want)));
  }
  if (signature.needs_columns && Columns(views[1]) == 0) {
    return Refuse(absl::StrCat(Name(signature, 1), " has shape ", ShapeText(views[1]),
                               ", whose last dimension is empty: there is no ", signature.name,
                               " of nothing"));
  }
  return absl::OkStatus();
}

absl::Status CheckMatmul(const Signature& signature, absl::Span<const abi::View> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].dims == 2) continue;
    return Refuse(absl::StrCat(Name(signature, i), " has shape ", ShapeText(views[i]), "; ",
                               signature.name, " takes 2 dimensions"));
  }
  const abi::View& a = views[1];
  const abi::View& b = views[2];
  if (a.sizes[1] != b.sizes[0]) {
    return Refuse(absl::StrCat(Name(signature, 1), " has shape ", ShapeText(a), " and ",
                               Name(signature, 2), " has ", ShapeText(b), ": the ", a.sizes[1],
                               " columns of the one are not the ", b.sizes[0],
                               " rows of the other"));
  }
  if (views[0].sizes[0] == a.sizes[0] && views[0].sizes[1] == b.sizes[1]) return absl::OkStatus();
  return Refuse(absl::StrCat(Name(signature, 0), " has shape ", ShapeText(views[0]), "; ",
                             signature.name, " of ", ShapeText(a), " and ", ShapeText(b), " is [",
                             a.sizes[0], ", ", b.sizes[1], "]"));
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

absl::Status CheckOutput(const Signature& signature, std::size_t index, const abi::View& view) {
  switch (OverlapsItself(view)) {
    case Overlap::kNone:
      return absl::OkStatus();
    case Overlap::kSome:
      return Refuse(absl::StrCat(Name(signature, index), " has shape ", ShapeText(view),
                                 " and strides under which several elements share one address: "
                                 "write to a tensor of its own, or copy"));
    case Overlap::kUnknown:
      break;
  }
  return Refuse(absl::StrCat(Name(signature, index), " has shape ", ShapeText(view),
                             " and strides that are too entangled to show that no two elements "
                             "share an address: write to a contiguous tensor, then copy"));
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
      return Refuse(absl::StrCat(Name(signature, output), " shares memory with ",
                                 Name(signature, other), "; ", signature.name,
                                 in_place_allowed ? " can work in place only on the very same view"
                                                  : " cannot work in place",
                                 ": write to another tensor"));
    case Overlap::kUnknown:
      break;
  }
  return Refuse(absl::StrCat(Name(signature, output), " and ", Name(signature, other),
                             " interleave in memory under strides that are too entangled to show "
                             "that they are disjoint: copy one to a tensor of its own"));
}

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

std::uint64_t DivideUp(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

Plan Cut(std::uint64_t units, std::uint64_t tile_size) {
  tile_size = std::max(tile_size, DivideUp(units, kMaxTiles));
  const std::uint64_t tiles = std::max<std::uint64_t>(1, DivideUp(units, tile_size));
  return Plan{static_cast<std::uint32_t>(tiles), tile_size};
}

Plan CutRows(std::uint64_t rows, std::uint64_t columns) {
  return Cut(rows, std::max<std::uint64_t>(1, kTileElements / std::max<std::uint64_t>(1, columns)));
}

Plan CutTask(ShapeRule rule, absl::Span<const abi::View> views) {
  // Of the output.
  const std::uint64_t elements = views.empty() ? 0 : static_cast<std::uint64_t>(views[0].elements);
  switch (rule) {
    case ShapeRule::kElementwise:
      return Cut(elements, kTileElements);
    case ShapeRule::kReduceLast:
      return CutRows(elements, static_cast<std::uint64_t>(Columns(views[1])));
    case ShapeRule::kRowwise: {
      const auto columns = static_cast<std::uint64_t>(Columns(views[0]));
      return CutRows(columns == 0 ? 0 : elements / columns, columns);
    }
    case ShapeRule::kMatmul: {
      const auto rows = static_cast<std::uint64_t>(views[0].sizes[0]);
      const auto columns = static_cast<std::uint64_t>(views[0].sizes[1]);
      return Cut(builtin::PatchesAlong(rows, builtin::kPatchRows) *
                     builtin::PatchesAlong(columns, builtin::kPatchColumns),
                 kTilePatches);
    }
    case ShapeRule::kUnconstrained:
      break;
  }
  return Plan{1, 1};
}

}  // namespace

absl::StatusOr<Plan> PlanTask(const Signature& signature, absl::Span<abi::View> views) {
  absl::Status status = CheckCount(signature, views);
  if (status.ok()) status = CheckDTypes(signature, views);
  if (status.ok()) status = CheckShapes(signature, views);
  if (status.ok()) status = CheckMemory(signature, views);
  if (!status.ok()) return status;
  if (signature.rule == ShapeRule::kElementwise && !views.empty()) Coalesce(views);
  for (abi::View& view : views) view.contiguous = IsContiguous(view) ? 1 : 0;
  return CutTask(signature.rule, views);
}

}  // namespace gpuos::ops
