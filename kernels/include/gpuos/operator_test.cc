// What an operator's source gets from gpuos/operator.h alone.
#include "gpuos/operator.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace {

GPUOS_OPERATOR(example_mul_add) {
  gpuos::Map<float, float, float>(call, [](float a, float b) { return a * b + a; });
}

// A call of three contiguous operands of the same size, in tiles of 3 elements.
class Example {
 public:
  explicit Example(std::vector<float> a, std::vector<float> b)
      : a_(std::move(a)), b_(std::move(b)), out_(a_.size()) {
    const auto count = static_cast<std::int64_t>(a_.size());
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      views_[slot] = gpuos::abi::View{};
      views_[slot].slot = slot;
      views_[slot].dtype = gpuos::abi::DType::kF32;
      views_[slot].dims = 1;
      views_[slot].contiguous = 1;
      views_[slot].elements = count;
      views_[slot].sizes[0] = count;
      views_[slot].strides[0] = 1;
    }
    bindings_[0] = reinterpret_cast<gpuos::abi::DeviceAddress>(out_.data());
    bindings_[1] = reinterpret_cast<gpuos::abi::DeviceAddress>(a_.data());
    bindings_[2] = reinterpret_cast<gpuos::abi::DeviceAddress>(b_.data());
  }

  gpuos::Call call(std::uint32_t tile) {
    gpuos::Call call{};
    call.views = views_;
    call.bindings = bindings_;
    call.batch = &batch_;
    call.attributes = attributes_;
    call.view_count = 3;
    call.tile = tile;
    call.tile_size = 3;
    call.task = 9;
    return call;
  }
  const std::vector<float>& out() const { return out_; }
  std::uint64_t error() const { return batch_.error; }
  gpuos::abi::Scalar* attributes() { return attributes_; }

 private:
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> out_;
  gpuos::abi::View views_[3];
  gpuos::abi::DeviceAddress bindings_[3];
  gpuos::abi::Scalar attributes_[3] = {};
  gpuos::abi::BatchState batch_{};
};

TEST(Operator, WritesItsTileAndNothingElse) {
  Example example({1, 2, 3, 4, 5}, {10, 20, 30, 40, 50});
  gpuos_op_example_mul_add(example.call(1));
  EXPECT_EQ(example.out(), (std::vector<float>{0, 0, 0, 164, 255}));
  gpuos_op_example_mul_add(example.call(0));
  EXPECT_EQ(example.out(), (std::vector<float>{11, 42, 93, 164, 255}));
}

TEST(Operator, ATileBeyondTheEndIsEmpty) {
  Example example({1, 2, 3}, {1, 2, 3});
  gpuos_op_example_mul_add(example.call(1));
  gpuos_op_example_mul_add(example.call(0xffffffff));
  EXPECT_EQ(example.out(), (std::vector<float>{0, 0, 0}));
}

TEST(TileRange, DoesNotOverflowAtTheEndOfLargeTasks) {
  gpuos::Call call{};
  const std::uint64_t count = (std::uint64_t{1} << 62) + 1;
  call.tile_size = std::uint64_t{1} << 32;
  call.tile = 1u << 30;
  const gpuos::Range range = gpuos::TileRange(call, count);
  EXPECT_EQ(range.begin, std::uint64_t{1} << 62);
  EXPECT_EQ(range.end, count);
}

TEST(Fail, KeepsTheFirstFailure) {
  Example example({}, {});
  EXPECT_EQ(example.error(), 0u);
  gpuos::Fail(example.call(0), 5);
  gpuos::Fail(example.call(0), 6);
  EXPECT_EQ(example.error(), (std::uint64_t{5} << 32) | 9);
}

TEST(Attributes, AreReadByTheirKind) {
  Example example({}, {});
  example.attributes()[0].i = -3;
  example.attributes()[1].f = 0.25;
  example.attributes()[2].i = 1;
  const gpuos::Call call = example.call(0);
  EXPECT_EQ(gpuos::IntAttribute(call, 0), -3);
  EXPECT_EQ(gpuos::FloatAttribute(call, 1), 0.25);
  EXPECT_TRUE(gpuos::BoolAttribute(call, 2));
}

TEST(ForEachRow, VisitsTheTilesRowsInOrderOnAHost) {
  gpuos::Call call{};
  call.tile = 1;
  call.tile_size = 4;
  std::vector<std::uint64_t> rows;
  gpuos::ForEachRow(call, 7, 100, [&](const gpuos::Team& team, std::uint64_t row) {
    EXPECT_TRUE(team.IsLeader());
    EXPECT_EQ(team.size(), 1u);
    rows.push_back(row);
  });
  EXPECT_EQ(rows, (std::vector<std::uint64_t>{4, 5, 6}));
}

TEST(ForDType, GivesTheTypeOfTheDTypeAndNothingForUnknownOnes) {
  const auto size_of = [](gpuos::abi::DType dtype) {
    std::size_t size = 0;
    gpuos::ForDType(dtype, [&](auto zero) { size = sizeof(zero); });
    return size;
  };
  EXPECT_EQ(size_of(gpuos::abi::DType::kF32), 4u);
  EXPECT_EQ(size_of(gpuos::abi::DType::kI64), 8u);
  EXPECT_EQ(size_of(gpuos::abi::DType::kBool), 1u);
  EXPECT_EQ(size_of(gpuos::abi::DType::kNone), 0u);
}

TEST(Scratch, LeavesRoomForReductions) {
  EXPECT_EQ(gpuos::kFreeScratchBytes + gpuos::kReduceScratchBytes, gpuos::abi::kScratchBytes);
  EXPECT_EQ(gpuos::kFreeScratchBytes % 16, 0u);
}

}  // namespace
