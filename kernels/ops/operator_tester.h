// Runs one operator on the host, for tests: tensors of any layout in buffers of their own, planned
// as the executor plans them, tile by tile.
#ifndef GPUOS_KERNELS_OPS_OPERATOR_TESTER_H_
#define GPUOS_KERNELS_OPS_OPERATOR_TESTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gpuos/element.h"
#include "kernels/abi/program.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {

// Where a tensor's elements lie, in elements from the start of its buffer.
struct Layout {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

// Rows major, from the start.
Layout Dense(std::vector<std::int64_t> sizes);
// Columns major.
Layout Transposed(std::vector<std::int64_t> sizes);
// Rows major with unused elements between all of them and before the first.
Layout Spread(std::vector<std::int64_t> sizes);
// One element seen everywhere.
Layout Repeated(std::vector<std::int64_t> sizes);
// All of the above but the last: what an output may look like.
std::vector<Layout> LayoutsOf(const std::vector<std::int64_t>& sizes);

std::int64_t ElementsOf(const Layout& layout);
// Distance of the element with linear index `index`, rows major.
std::int64_t PlaceOf(const Layout& layout, std::int64_t index);
// Elements that a buffer must have.
std::int64_t SpanOf(const Layout& layout);

abi::View ViewOf(abi::DType dtype, const Layout& layout, std::uint32_t slot = 0);

abi::DType DTypeOf(float);
abi::DType DTypeOf(std::int64_t);
abi::DType DTypeOf(bool);

// An operand as the tester wants it. Operands with the same `bytes` share a slot.
struct OperandBytes {
  abi::View view;
  std::vector<std::byte>* bytes;
};

// A tensor in a buffer of its own. What belongs to no element has a pattern that must not change.
template <typename T>
class TestTensor {
 public:
  // All elements are `value`.
  explicit TestTensor(Layout layout, T value = T{}) : layout_(std::move(layout)) {
    bytes_.assign(static_cast<std::size_t>(SpanOf(layout_) + kTail) * sizeof(Storage<T>), kPattern);
    for (std::int64_t i = 0; i < elements(); ++i) Set(i, value);
  }
  TestTensor(Layout layout, const std::vector<T>& values) : TestTensor(std::move(layout)) {
    for (std::size_t i = 0; i < values.size(); ++i) Set(static_cast<std::int64_t>(i), values[i]);
  }

  std::int64_t elements() const { return ElementsOf(layout_); }
  T Get(std::int64_t index) const { return static_cast<T>(*At(index)); }
  void Set(std::int64_t index, T value) { *At(index) = static_cast<Storage<T>>(value); }
  std::vector<T> Values() const {
    std::vector<T> values;
    for (std::int64_t i = 0; i < elements(); ++i) values.push_back(Get(i));
    return values;
  }

  OperandBytes operand() { return {ViewOf(DTypeOf(T{}), layout_), &bytes_}; }
  // The same bytes seen under another layout.
  OperandBytes operand(const Layout& layout) { return {ViewOf(DTypeOf(T{}), layout), &bytes_}; }

  // Whether all bytes that belong to no element are as they were.
  bool PaddingIsIntact() const {
    std::vector<std::byte> copy = bytes_;
    for (std::int64_t i = 0; i < elements(); ++i) {
      const auto start = static_cast<std::size_t>(PlaceOf(layout_, i)) * sizeof(Storage<T>);
      for (std::size_t b = 0; b < sizeof(Storage<T>); ++b) copy[start + b] = kPattern;
    }
    for (std::byte byte : copy) {
      if (byte != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr std::byte kPattern{0xa5};
  static constexpr std::int64_t kTail = 64;  // Elements behind the last one.

  const Storage<T>* At(std::int64_t index) const {
    return reinterpret_cast<const Storage<T>*>(bytes_.data()) + PlaceOf(layout_, index);
  }
  Storage<T>* At(std::int64_t index) {
    return reinterpret_cast<Storage<T>*>(bytes_.data()) + PlaceOf(layout_, index);
  }

  Layout layout_;
  std::vector<std::byte> bytes_;
};

struct RunOptions {
  std::vector<abi::Scalar> attributes;  // Missing ones have the signature's defaults.
  std::uint64_t tile_size = 0;          // 0: as planned.
};

// Plans and runs the built-in operator `name`, tiles from the last to the first. The planner's
// status, NOT_FOUND for an unknown name, ABORTED with the code in its text if the operator called
// Fail().
absl::Status RunOperator(const std::string& name, const std::vector<OperandBytes>& operands,
                         const RunOptions& options = {});

abi::Scalar Int(std::int64_t value);
abi::Scalar Float(double value);

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_OPERATOR_TESTER_H_
