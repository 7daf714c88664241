// Whether elements of strided views share bytes. Pure arithmetic.
#ifndef GPUOS_KERNELS_OPS_MEMORY_OVERLAP_H_
#define GPUOS_KERNELS_OPS_MEMORY_OVERLAP_H_

#include "kernels/abi/program.h"

namespace gpuos::ops {

enum class Overlap {
  kNone,
  kSome,
  kUnknown,  // Strides so entangled that the search was given up. Treat as kSome.
};

// Whether two different elements of `view` share bytes.
Overlap OverlapsItself(const abi::View& view);

// Whether an element of `a` shares bytes with an element of `b`. Views of different slots do not.
Overlap Overlaps(const abi::View& a, const abi::View& b);

// Whether both have the same elements at the same places, in the same order.
bool IsSameView(const abi::View& a, const abi::View& b);

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_MEMORY_OVERLAP_H_
