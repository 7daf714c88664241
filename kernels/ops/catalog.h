// Signatures of the built-in operators, one function each: gpuos::ops::catalog::add() and so on,
// named like the operators' functions. Names are left empty: the list gives them.
#ifndef GPUOS_KERNELS_OPS_CATALOG_H_
#define GPUOS_KERNELS_OPS_CATALOG_H_

#include "kernels/ops/builtin_list.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops::catalog {

#define GPUOS_DECLARE_SIGNATURE(name, id) Signature id();
GPUOS_SHIPPED_BUILTINS(GPUOS_DECLARE_SIGNATURE)
GPUOS_TEST_BUILTINS(GPUOS_DECLARE_SIGNATURE)
#undef GPUOS_DECLARE_SIGNATURE

}  // namespace gpuos::ops::catalog

#endif  // GPUOS_KERNELS_OPS_CATALOG_H_
