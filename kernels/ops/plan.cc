#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/ops/dtype_check.h"
#include "kernels/ops/layout.h"
#include "kernels/ops/matmul_shape.h"
#include "kernels/ops/memory_check.h"
#include "kernels/ops/refusal.h"
#include "kernels/ops/shape_check.h"
#include "kernels/ops/signature.h"
#include "kernels/ops/tuning.h"

namespace gpuos::ops {
namespace {

absl::Status CheckCount(const Signature& signature, absl::Span<const abi::View> views) {
  if (views.size() == signature.operands.size()) return absl::OkStatus();
  return Refuse(signature.name, " takes ", signature.operands.size(),
                " operands, outputs first; got ", views.size());
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
      return CutRows(elements, static_cast<std::uint64_t>(ColumnsOf(views[1])));
    case ShapeRule::kRowwise: {
      const auto columns = static_cast<std::uint64_t>(ColumnsOf(views[0]));
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
