// Whether an operator can write its outputs where they lie. A part of PlanTask.
#ifndef GPUOS_KERNELS_OPS_MEMORY_CHECK_H_
#define GPUOS_KERNELS_OPS_MEMORY_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/abi/program.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {

// One view for each operand of the signature, shapes checked and broadcast. INVALID_ARGUMENT with a
// sentence if elements of an output share bytes with each other, or with another operand in a way
// that the operator cannot work with. Says nothing of operands that are accessed atomically.
absl::Status CheckMemory(const Signature& signature, absl::Span<const abi::View> views);

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_MEMORY_CHECK_H_
