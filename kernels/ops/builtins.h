// The operators that are part of an executor, on a host device. Their signatures are
// ops::Builtins() (signature.h), in the same order.
//
// Two libraries define the same symbols, and an executor links one of them: `builtins`, and
// `builtins_with_test`, which has the operators for tests behind the others. The GPU's tables are
// built from the same list: builtins.cu, builtins_with_test.cu.
#ifndef GPUOS_KERNELS_OPS_BUILTINS_H_
#define GPUOS_KERNELS_OPS_BUILTINS_H_

#include "gpuos/call.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {

// Code addresses, Builtins().size() of them. Constant; thread-safe.
const OperatorFunction* HostTable();

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_BUILTINS_H_
