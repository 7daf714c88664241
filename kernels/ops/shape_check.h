// Whether an operator takes operands of these shapes. A part of PlanTask.
#ifndef GPUOS_KERNELS_OPS_SHAPE_CHECK_H_
#define GPUOS_KERNELS_OPS_SHAPE_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/abi/program.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {

// One view for each operand of the signature. INVALID_ARGUMENT with a sentence. Elementwise: gives
// every input the output's shape, by broadcasting.
absl::Status CheckShapes(const Signature& signature, absl::Span<abi::View> views);

// Elements of the last dimension; 1 for a view without dimensions.
std::int64_t ColumnsOf(const abi::View& view);

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_SHAPE_CHECK_H_
