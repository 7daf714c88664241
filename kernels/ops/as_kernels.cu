// Every operator as a kernel of its own, for its resource use alone: a function also saves the
// registers that the calling convention makes it preserve, and ptxas counts those as spills.
// Whatever a kernel spills, the operator spills.
#define GPUOS_WITH_TEST_BUILTINS
#define GPUOS_OPERATOR(id) extern "C" __global__ void gpuos_op_##id(const gpuos::Call call)
#include "kernels/ops/families.inc"
