#include "kernels/ops/dtype_check.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/ops/refusal.h"

namespace gpuos::ops {
namespace {

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

bool Accepts(const Operand& operand, abi::DType dtype) {
  return std::find(operand.dtypes.begin(), operand.dtypes.end(), dtype) != operand.dtypes.end();
}

absl::Status CheckAccepted(const Signature& signature, absl::Span<const abi::View> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Operand& operand = signature.operands[i];
    if (Accepts(operand, views[i].dtype)) continue;
    const auto text = [](std::string* out, abi::DType dtype) { out->append(DTypeText(dtype)); };
    return Refuse(OperandText(signature, i), " has dtype ", DTypeText(views[i].dtype), "; ",
                  signature.name, " takes ", absl::StrJoin(operand.dtypes, " or ", text),
                  " there: convert it with copy");
  }
  return absl::OkStatus();
}

absl::Status CheckSameDType(const Signature& signature, absl::Span<const abi::View> views) {
  std::size_t first = views.size();
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (signature.operands[i].dtypes.size() < 2) continue;
    if (first == views.size()) first = i;
    if (views[i].dtype == views[first].dtype) continue;
    return Refuse(OperandText(signature, i), " has dtype ", DTypeText(views[i].dtype), " and ",
                  OperandText(signature, first), " has ", DTypeText(views[first].dtype), "; ",
                  signature.name, " needs them equal: convert one with copy");
  }
  return absl::OkStatus();
}

absl::Status CheckAccumulated(const Signature& signature, absl::Span<const abi::View> views) {
  const bool integral = views[1].dtype != abi::DType::kF32;
  const abi::DType want = integral ? abi::DType::kI64 : views[1].dtype;
  if (views[0].dtype == want) return absl::OkStatus();
  return Refuse(OperandText(signature, 0), " has dtype ", DTypeText(views[0].dtype), "; the ",
                signature.name, " of ", DTypeText(views[1].dtype), " is ", DTypeText(want));
}

}  // namespace

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

}  // namespace gpuos::ops
