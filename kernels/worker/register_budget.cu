// Gives the worker its register budget. A kernel that calls through pointers is linked with as many
// registers as the hungriest function of its image whose address is taken, and a callee that needs
// more ends it with an illegal instruction. This function, never called, needs all that
// -maxrregcount allows: so an operator that is compiled to the same limit later on always fits,
// whatever the operators in the image happen to need.
#include "gpuos/call.h"

namespace gpuos::worker {
namespace {

// Close to the budget of kernels/worker/budget.txt: the addresses take the rest.
constexpr int kLiveWords = 64;

__device__ __noinline__ void TakeTheWholeBudget(const Call& call) {
  auto* words = reinterpret_cast<volatile unsigned*>(call.scratch);
  unsigned live[kLiveWords];
  // All words are read before the first is written, in the other order, so all are live at once.
#pragma unroll
  for (int i = 0; i < kLiveWords; ++i) live[i] = words[i];
#pragma unroll
  for (int i = 0; i < kLiveWords; ++i) words[i] = live[kLiveWords - 1 - i];
}

}  // namespace
}  // namespace gpuos::worker

// Takes its address.
extern "C" __device__ gpuos::OperatorFunction gpuos_register_budget =
    gpuos::worker::TakeTheWholeBudget;
