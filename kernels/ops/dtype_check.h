// Whether an operator takes operands of these dtypes. A part of PlanTask.
#ifndef GPUOS_KERNELS_OPS_DTYPE_CHECK_H_
#define GPUOS_KERNELS_OPS_DTYPE_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/abi/program.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {

// One view for each operand of the signature. INVALID_ARGUMENT with a sentence.
absl::Status CheckDTypes(const Signature& signature, absl::Span<const abi::View> views);

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_DTYPE_CHECK_H_
