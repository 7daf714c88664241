// Where a tensor's elements lie, and how to load and store them.
#ifndef GPUOS_TENSOR_H_
#define GPUOS_TENSOR_H_

#include <cstdint>

#include "gpuos/call.h"
#include "gpuos/element.h"
#include "gpuos/unroll.h"

namespace gpuos {

// a / b. On a GPU a 64-bit division is a call of a library routine, for which the caller saves its
// registers on a stack that operators do not have. 32-bit operands, nearly all there are, take one
// short division; others a long one, bit by bit.
GPUOS_INLINE std::uint64_t Divide(std::uint64_t a, std::uint64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
#ifdef __CUDACC__
  std::uint64_t quotient = 0;
  std::uint64_t rest = 0;
  GPUOS_NO_UNROLL
  for (int bit = 63; bit >= 0; --bit) {
    rest = rest << 1 | (a >> bit & 1);
    quotient <<= 1;
    if (rest >= b) {
      rest -= b;
      quotient |= 1;
    }
  }
  return quotient;
#else
  return a / b;
#endif
}

// Distance, in elements, from element 0 to the one with linear index `index`, rows major, over the
// first `dims` dimensions. Sizes there must not be 0. Exact up to 2^64, for any strides.
GPUOS_INLINE std::uint64_t ElementOffset(const abi::View& view, std::uint32_t dims,
                                         std::uint64_t index) {
  std::uint64_t offset = 0;
  GPUOS_NO_UNROLL
  for (std::uint32_t d = dims; d > 1; --d) {
    const std::uint64_t size = static_cast<std::uint64_t>(view.sizes[d - 1]);
    const std::uint64_t rest = Divide(index, size);
    offset += (index - rest * size) * static_cast<std::uint64_t>(view.strides[d - 1]);
    index = rest;
  }
  // The outermost dimension takes what is left: no division.
  if (dims > 0) offset += index * static_cast<std::uint64_t>(view.strides[0]);
  return offset;
}

GPUOS_INLINE std::uint64_t ElementOffset(const abi::View& view, std::uint64_t index) {
  return view.contiguous != 0 ? index : ElementOffset(view, view.dims, index);
}

// The offsets of one element in the first N operands of an elementwise call, which have the same
// sizes: each dimension's division is done once for all of them.
template <std::uint32_t N>
struct Offsets {
  std::uint64_t of[N];

  GPUOS_INLINE Offsets(const abi::View* views, std::uint64_t index) {
    GPUOS_UNROLL
    for (std::uint32_t n = 0; n < N; ++n) of[n] = 0;
    GPUOS_NO_UNROLL
    for (std::uint32_t d = views[0].dims; d > 0; --d) {
      const std::uint64_t size = static_cast<std::uint64_t>(views[0].sizes[d - 1]);
      const std::uint64_t rest = d == 1 ? 0 : Divide(index, size);
      const std::uint64_t here = index - rest * size;
      GPUOS_UNROLL
      for (std::uint32_t n = 0; n < N; ++n) {
        of[n] += here * static_cast<std::uint64_t>(views[n].strides[d - 1]);
      }
      index = rest;
    }
  }
};

// Elements at equal distances: a row of a tensor, a column, or all of a contiguous one.
template <typename T>
class Line {
 public:
  GPUOS_INLINE Line(Storage<T>* first, std::uint64_t stride) : first_(first), stride_(stride) {}

  GPUOS_INLINE T Load(std::uint64_t i) const { return static_cast<T>(first_[i * stride_]); }
  GPUOS_INLINE void Store(std::uint64_t i, T value) const {
    first_[i * stride_] = static_cast<Storage<T>>(value);
  }

 private:
  Storage<T>* first_;
  std::uint64_t stride_;
};

// An operand of a call, seen as elements of type T, which must be the operand's dtype. A view: owns
// nothing, valid during the call.
template <typename T>
class Tensor {
 public:
  // `operand` counts outputs first, then inputs.
  GPUOS_INLINE Tensor(const Call& call, std::uint32_t operand)
      : view_(&call.views[operand]),
        first_(reinterpret_cast<Storage<T>*>(call.bindings[call.views[operand].slot] +
                                             call.views[operand].offset)) {}

  GPUOS_INLINE std::uint64_t elements() const {
    return static_cast<std::uint64_t>(view_->elements);
  }
  GPUOS_INLINE bool contiguous() const { return view_->contiguous != 0; }

  // By linear index, rows major; any strides.
  GPUOS_INLINE T Load(std::uint64_t index) const { return At(ElementOffset(*view_, index)); }
  GPUOS_INLINE void Store(std::uint64_t index, T value) const {
    StoreAt(ElementOffset(*view_, index), value);
  }

  // By distance from element 0, in elements: for those who have worked it out, or for all
  // contiguous() tensors, where it is the linear index.
  GPUOS_INLINE T At(std::uint64_t offset) const { return static_cast<T>(first_[offset]); }
  GPUOS_INLINE void StoreAt(std::uint64_t offset, T value) const {
    first_[offset] = static_cast<Storage<T>>(value);
  }

  // Elements of the last dimension; 1 for a tensor without dimensions.
  GPUOS_INLINE std::uint64_t columns() const {
    return view_->dims == 0 ? 1 : static_cast<std::uint64_t>(view_->sizes[view_->dims - 1]);
  }
  // Row `row` of those that the last dimension makes, by linear index over the other dimensions.
  GPUOS_INLINE Line<T> Row(std::uint64_t row) const {
    if (view_->dims == 0) return Line<T>(first_, 0);
    const std::uint32_t last = view_->dims - 1u;
    return Line<T>(first_ + ElementOffset(*view_, last, row),
                   static_cast<std::uint64_t>(view_->strides[last]));
  }

 private:
  const abi::View* view_;
  Storage<T>* first_;
};

// For operators that touch few elements.
template <typename T>
GPUOS_INLINE T Load(const Call& call, std::uint32_t operand, std::uint64_t index) {
  return Tensor<T>(call, operand).Load(index);
}
template <typename T>
GPUOS_INLINE void Store(const Call& call, std::uint32_t operand, std::uint64_t index, T value) {
  Tensor<T>(call, operand).Store(index, value);
}

// Loads an element of any dtype and converts it to T.
template <typename T>
GPUOS_INLINE T LoadAs(const Call& call, std::uint32_t operand, std::uint64_t index) {
  T result = T{};
  ForDType(call.views[operand].dtype,
           [&](auto zero) { result = Convert<T>(Load<decltype(zero)>(call, operand, index)); });
  return result;
}

}  // namespace gpuos

#endif  // GPUOS_TENSOR_H_
