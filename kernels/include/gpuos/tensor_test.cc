// Index arithmetic: small cases element by element, and large ones without memory behind them.
#include "gpuos/tensor.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "gtest/gtest.h"

namespace gpuos {
namespace {

abi::View MakeView(std::initializer_list<std::int64_t> sizes,
                   std::initializer_list<std::int64_t> strides) {
  abi::View view{};
  view.dtype = abi::DType::kF32;
  view.elements = 1;
  for (std::int64_t size : sizes) {
    view.sizes[view.dims++] = size;
    view.elements *= size;
  }
  int d = 0;
  for (std::int64_t stride : strides) view.strides[d++] = stride;
  return view;
}

std::uint64_t OffsetOf(const abi::View& view, std::uint64_t index) {
  return ElementOffset(view, view.dims, index);
}

TEST(ElementOffset, OfTheOnlyElementIsZero) { EXPECT_EQ(OffsetOf(MakeView({}, {}), 0), 0u); }

TEST(ElementOffset, CountsRowsMajor) {
  const abi::View view = MakeView({2, 3, 4}, {100, 10, 1});
  EXPECT_EQ(OffsetOf(view, 0), 0u);
  EXPECT_EQ(OffsetOf(view, 3), 3u);
  EXPECT_EQ(OffsetOf(view, 4), 10u);
  EXPECT_EQ(OffsetOf(view, 23), 123u);
}

TEST(ElementOffset, OfAContiguousViewIsTheIndex) {
  abi::View view = MakeView({2, 3}, {3, 1});
  view.contiguous = 1;
  EXPECT_EQ(ElementOffset(view, 5), 5u);
  EXPECT_EQ(ElementOffset(view, std::uint64_t{1} << 40), std::uint64_t{1} << 40);
}

TEST(ElementOffset, GoesThroughEightDimensions) {
  const abi::View view =
      MakeView({2, 2, 2, 2, 2, 2, 2, 2}, {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1});
  EXPECT_EQ(OffsetOf(view, 0b10110010), 10110010u);
  EXPECT_EQ(OffsetOf(view, 0xff), 11111111u);
}

TEST(ElementOffset, IsExactAroundTwoToThe31And32) {
  const std::int64_t rows = std::int64_t{1} << 31;
  const abi::View view = MakeView({rows, 3}, {7, 2});
  for (std::uint64_t row : {0x7ffffffeu, 0x7fffffffu}) {
    for (std::uint64_t column : {0u, 1u, 2u}) {
      EXPECT_EQ(OffsetOf(view, row * 3 + column), row * 7 + column * 2);
    }
  }
  const abi::View wide = MakeView({3, (std::int64_t{1} << 32) + 5}, {std::int64_t{1} << 33, 1});
  const std::uint64_t columns = (std::uint64_t{1} << 32) + 5;
  for (std::uint64_t index : {columns - 1, columns, columns + 1, 2 * columns, 3 * columns - 1}) {
    EXPECT_EQ(OffsetOf(wide, index), index / columns * (std::uint64_t{1} << 33) + index % columns);
  }
}

TEST(ElementOffset, AFewElementsMayLieFarApart) {
  const abi::View view = MakeView({2, 2}, {std::int64_t{1} << 40, (std::int64_t{1} << 31) + 1});
  EXPECT_EQ(OffsetOf(view, 3), (std::uint64_t{1} << 40) + (std::uint64_t{1} << 31) + 1);
}

TEST(Offsets, AgreeWithElementOffsetForEachView) {
  const abi::View views[] = {MakeView({3, 5, 2}, {10, 2, 1}), MakeView({3, 5, 2}, {0, 1, 0}),
                             MakeView({3, 5, 2}, {std::int64_t{1} << 34, 2, 77})};
  for (std::uint64_t i = 0; i < 30; ++i) {
    const Offsets<3> at(views, i);
    for (int v = 0; v < 3; ++v) EXPECT_EQ(at.of[v], OffsetOf(views[v], i)) << v << ", " << i;
  }
}

TEST(Divide, IsADivisionAtEverySize) {
  const std::vector<std::uint64_t> numbers = {
      1, 2, 3, 0xffffffff, 0x100000000, 0x100000001, 0x123456789abcdef, 0x7fffffffffffffff};
  for (std::uint64_t a : numbers) {
    for (std::uint64_t b : numbers) EXPECT_EQ(Divide(a, b), a / b) << a << " / " << b;
  }
  EXPECT_EQ(Divide(0, 5), 0u);
}

// A call with one operand that lies at `address` plus its view's offset.
class OneOperand {
 public:
  OneOperand(abi::View view, abi::DeviceAddress address) : view_(view), binding_(address) {}

  Call call() const {
    Call call{};
    call.views = &view_;
    call.bindings = &binding_;
    call.view_count = 1;
    return call;
  }

 private:
  abi::View view_;
  abi::DeviceAddress binding_;
};

TEST(Tensor, LoadsAndStoresThroughOffsetAndStrides) {
  std::vector<float> memory(12);
  abi::View view = MakeView({2, 2}, {1, 4});
  view.offset = 3 * sizeof(float);
  const OneOperand operand(view, reinterpret_cast<abi::DeviceAddress>(memory.data()));
  const Call call = operand.call();
  Store<float>(call, 0, 1, 5.0f);
  EXPECT_EQ(memory[3 + 4], 5.0f);
  memory[3 + 1] = 6.0f;
  EXPECT_EQ(Load<float>(call, 0, 2), 6.0f);
  EXPECT_EQ(LoadAs<std::int64_t>(call, 0, 2), 6);
  EXPECT_TRUE(LoadAs<bool>(call, 0, 1));
}

TEST(Tensor, OffsetsBeyond32BitsAreAddedInFull) {
  // The binding is chosen so that binding + offset is a real address again.
  float value = 2.5f;
  abi::View view = MakeView({}, {});
  view.offset = (std::uint64_t{1} << 36) + 4;
  const OneOperand operand(view, reinterpret_cast<abi::DeviceAddress>(&value) - view.offset);
  EXPECT_EQ(Load<float>(operand.call(), 0, 0), 2.5f);
}

TEST(Tensor, RowsAreLinesOfTheLastDimension) {
  std::vector<float> memory(30);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  const OneOperand operand(MakeView({2, 2, 3}, {14, 7, 2}),
                           reinterpret_cast<abi::DeviceAddress>(memory.data()));
  const Tensor<float> tensor(operand.call(), 0);
  EXPECT_EQ(tensor.columns(), 3u);
  EXPECT_EQ(tensor.Row(0).Load(2), 4.0f);
  EXPECT_EQ(tensor.Row(3).Load(1), 23.0f);
}

TEST(Tensor, WithoutDimensionsIsOneRowOfOne) {
  float value = 1.5f;
  const OneOperand operand(MakeView({}, {}), reinterpret_cast<abi::DeviceAddress>(&value));
  const Tensor<float> tensor(operand.call(), 0);
  EXPECT_EQ(tensor.columns(), 1u);
  EXPECT_EQ(tensor.Row(0).Load(0), 1.5f);
}

}  // namespace
}  // namespace gpuos
