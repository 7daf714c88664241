// Element types of tensors, as an operator's source names them: float (F32), std::int64_t (I64) and
// bool (BOOL), and how they convert.
#ifndef GPUOS_ELEMENT_H_
#define GPUOS_ELEMENT_H_

#include <cstdint>

#include "gpuos/call.h"
#include "kernels/abi/dtype.h"

namespace gpuos {

// How an element lies in memory. A bool is a byte, and any byte but 0 reads as true.
template <typename T>
struct StorageOf {
  using type = T;
};
template <>
struct StorageOf<bool> {
  using type = unsigned char;
};
template <typename T>
using Storage = typename StorageOf<T>::type;

// Converts as PyTorch does: to bool everything but 0 is true (NaN too), to float rounds to nearest.
template <typename To, typename From>
GPUOS_INLINE To Convert(From value) {
  return static_cast<To>(value);
}

// Truncates; what does not fit becomes the nearest integer that there is, NaN the smallest. That is
// what the GPU's conversion does; in C++ it would be undefined.
template <>
GPUOS_INLINE std::int64_t Convert<std::int64_t, float>(float value) {
  constexpr float kLimit = 9223372036854775808.0f;  // 2^63.
  if (!(value >= -kLimit)) return INT64_MIN;
  if (value >= kLimit) return INT64_MAX;
  return static_cast<std::int64_t>(value);
}

// The same for attributes, which are doubles.
template <>
GPUOS_INLINE std::int64_t Convert<std::int64_t, double>(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit)) return INT64_MIN;
  if (value >= kLimit) return INT64_MAX;
  return static_cast<std::int64_t>(value);
}

// Calls `f` with a zero of the type that `dtype` names, so that `decltype` gives the type:
//   ForDType(call.views[0].dtype, [&](auto zero) { using T = decltype(zero); ... });
// ForNumber knows F32 and I64 only, and makes less code. Calls nothing for other dtypes: an
// operator's signature says which ones reach it.
template <typename F>
GPUOS_INLINE void ForNumber(abi::DType dtype, F f) {
  if (dtype == abi::DType::kF32) {
    f(float{0});
  } else if (dtype == abi::DType::kI64) {
    f(std::int64_t{0});
  }
}

template <typename F>
GPUOS_INLINE void ForDType(abi::DType dtype, F f) {
  if (dtype == abi::DType::kBool) {
    f(bool{false});
  } else {
    ForNumber(dtype, f);
  }
}

}  // namespace gpuos

#endif  // GPUOS_ELEMENT_H_
