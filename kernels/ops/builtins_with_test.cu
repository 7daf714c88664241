// The same with the operators for tests.
#define GPUOS_WITH_TEST_BUILTINS
#include "kernels/ops/builtins.cu"
