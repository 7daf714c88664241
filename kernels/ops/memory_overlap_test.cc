#include "kernels/ops/memory_overlap.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"

namespace gpuos::ops {
namespace {

abi::View F32(const Layout& layout) { return ViewOf(abi::DType::kF32, layout); }

std::multiset<std::int64_t> BytesOf(const abi::View& view, const Layout& layout) {
  std::multiset<std::int64_t> bytes;
  const std::int64_t size = abi::SizeOf(view.dtype);
  for (std::int64_t i = 0; i < view.elements; ++i) {
    for (std::int64_t b = 0; b < size; ++b) bytes.insert(PlaceOf(layout, i) * size + b);
  }
  return bytes;
}

Layout RandomLayout(std::mt19937& random) {
  Layout layout;
  const unsigned dims = random() % 4;
  for (unsigned d = 0; d < dims; ++d) {
    layout.sizes.push_back(random() % 8 == 0 ? 0 : 1 + random() % 4);
    layout.strides.push_back(random() % 12);
  }
  layout.offset = random() % 40;
  return layout;
}

TEST(OverlapsItself, AgreesWithLookingAtEveryByte) {
  std::mt19937 random(1);
  int overlapping = 0;
  for (int round = 0; round < 3000; ++round) {
    const Layout layout = RandomLayout(random);
    const abi::View view = F32(layout);
    const auto bytes = BytesOf(view, layout);
    const bool want = std::set<std::int64_t>(bytes.begin(), bytes.end()).size() != bytes.size();
    ASSERT_EQ(OverlapsItself(view), want ? Overlap::kSome : Overlap::kNone);
    overlapping += want;
  }
  EXPECT_GT(overlapping, 300);
  EXPECT_LT(overlapping, 2700);
}

TEST(Overlaps, AgreesWithLookingAtEveryByteAlsoAcrossDTypes) {
  std::mt19937 random(2);
  int overlapping = 0;
  for (int round = 0; round < 3000; ++round) {
    const Layout a = RandomLayout(random);
    const Layout b = RandomLayout(random);
    const abi::View left = F32(a);
    const abi::View right = ViewOf(round % 2 == 0 ? abi::DType::kF32 : abi::DType::kBool, b);
    bool want = false;
    const auto bytes = BytesOf(left, a);
    for (std::int64_t byte : BytesOf(right, b)) want = want || bytes.count(byte) > 0;
    ASSERT_EQ(Overlaps(left, right), want ? Overlap::kSome : Overlap::kNone);
    ASSERT_EQ(Overlaps(right, left), want ? Overlap::kSome : Overlap::kNone);
    overlapping += want;
  }
  EXPECT_GT(overlapping, 300);
  EXPECT_LT(overlapping, 2700);
}

TEST(Overlaps, ViewsOfDifferentSlotsAreApart) {
  abi::View a = F32(Dense({4}));
  abi::View b = a;
  b.slot = 1;
  EXPECT_EQ(Overlaps(a, b), Overlap::kNone);
  b.slot = 0;
  EXPECT_EQ(Overlaps(a, b), Overlap::kSome);
}

TEST(Overlaps, LargeTensorsAreJudgedWithoutLookingAtElements) {
  const std::int64_t rows = std::int64_t{1} << 31;
  EXPECT_EQ(OverlapsItself(F32({{rows, 8}, {16, 1}, 0})), Overlap::kNone);
  EXPECT_EQ(OverlapsItself(F32({{rows, 17}, {16, 1}, 0})), Overlap::kSome);
  const abi::View left = F32({{rows, 8}, {16, 1}, 0});
  EXPECT_EQ(Overlaps(left, F32({{rows, 8}, {16, 1}, 8})), Overlap::kNone);
  EXPECT_EQ(Overlaps(left, F32({{rows, 8}, {16, 1}, 7})), Overlap::kSome);
  EXPECT_EQ(Overlaps(left, F32({{rows, 8}, {16, 1}, rows * 16})), Overlap::kNone);
}

TEST(Overlaps, EightDimensionsAreEnough) {
  const Layout layout = Dense({2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(OverlapsItself(F32(layout)), Overlap::kNone);
  Layout windows = layout;
  windows.strides[3] -= 1;
  EXPECT_EQ(OverlapsItself(F32(windows)), Overlap::kSome);
}

TEST(Overlaps, OffsetsBeyondEverySignedNumberAreTakenAsTheyAre) {
  abi::View low = F32(Dense({4}));
  abi::View high = low;
  high.offset = 0xfffffffffffffff0u;
  EXPECT_EQ(Overlaps(low, high), Overlap::kNone);
  EXPECT_EQ(Overlaps(high, high), Overlap::kSome);
}

TEST(Overlaps, GivesUpOnStridesMadeToBeHard) {
  // A subset-sum problem: seven sizes, strides without a common structure, and no solution.
  const Layout hard = {{60, 60, 60, 60, 60, 60, 60},
                       {3 * 4561, 3 * 4567, 3 * 4583, 3 * 4591, 3 * 4597, 3 * 4603, 3 * 4621},
                       0};
  Layout beside = hard;
  beside.offset = 1000000;  // Not a multiple of 3.
  EXPECT_EQ(Overlaps(F32(hard), F32(beside)), Overlap::kUnknown);
}

TEST(IsSameView, IgnoresTheStridesOfSingleElements) {
  const abi::View view = F32({{1, 3}, {7, 1}, 2});
  EXPECT_TRUE(IsSameView(view, F32({{1, 3}, {9, 1}, 2})));
  EXPECT_FALSE(IsSameView(view, F32({{1, 3}, {7, 2}, 2})));
  EXPECT_FALSE(IsSameView(view, F32({{1, 3}, {7, 1}, 3})));
  EXPECT_FALSE(IsSameView(view, F32({{3}, {1}, 2})));
  EXPECT_FALSE(IsSameView(view, F32({{1, 2}, {7, 1}, 2})));
}

}  // namespace
}  // namespace gpuos::ops
