// The operators' code addresses on a GPU, in the order of ops::Builtins().
#include "kernels/ops/builtin_list.h"
#include "kernels/ops/families.inc"

extern "C" {

#define GPUOS_FUNCTION(name, id) gpuos_op_##id,
__device__ gpuos::OperatorFunction gpuos_builtin_table[] = {GPUOS_BUILTINS(GPUOS_FUNCTION)};
#undef GPUOS_FUNCTION
__device__ unsigned gpuos_builtin_count =
    sizeof(gpuos_builtin_table) / sizeof(gpuos_builtin_table[0]);

}  // extern "C"
