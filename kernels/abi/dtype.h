// Element types, as host, worker and operators number them. Values equal gpuos.v1.DType.
#ifndef GPUOS_KERNELS_ABI_DTYPE_H_
#define GPUOS_KERNELS_ABI_DTYPE_H_

#include <cstdint>

namespace gpuos::abi {

enum class DType : std::uint8_t {
  kNone = 0,
  kF32 = 1,
  kI64 = 2,
  kBool = 3,  // One byte, 0 or 1.
};

// Bytes of one element; 0 for kNone and for numbers that are no dtype.
constexpr std::uint32_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 4;
    case DType::kI64:
      return 8;
    case DType::kBool:
      return 1;
    case DType::kNone:
      break;
  }
  return 0;
}

}  // namespace gpuos::abi

#endif  // GPUOS_KERNELS_ABI_DTYPE_H_
