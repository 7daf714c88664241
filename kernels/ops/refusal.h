// How refusals of operands are worded.
#ifndef GPUOS_KERNELS_OPS_REFUSAL_H_
#define GPUOS_KERNELS_OPS_REFUSAL_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {

// INVALID_ARGUMENT with the sentence that the parts make.
template <typename... Parts>
absl::Status Refuse(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// "operand 1 (a)".
inline std::string OperandText(const Signature& signature, std::size_t index) {
  return absl::StrCat("operand ", index, " (", signature.operands[index].name, ")");
}

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_REFUSAL_H_
