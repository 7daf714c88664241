#include "kernels/ops/layout.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "gpuos/tensor.h"
#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"

namespace gpuos::ops {
namespace {

abi::View F32(const Layout& layout) { return ViewOf(abi::DType::kF32, layout); }

std::vector<std::int64_t> Sizes(const abi::View& view) {
  return {view.sizes, view.sizes + view.dims};
}
std::vector<std::int64_t> Strides(const abi::View& view) {
  return {view.strides, view.strides + view.dims};
}

using Numbers = std::vector<std::int64_t>;

TEST(ShapeText, IsAListInBrackets) {
  EXPECT_EQ(ShapeText(F32(Dense({}))), "[]");
  EXPECT_EQ(ShapeText(F32(Dense({3, 0, 4}))), "[3, 0, 4]");
}

TEST(BroadcastTo, AddsDimensionsInFrontAndRepeatsOnes) {
  abi::View view = F32(Dense({3, 1}));
  ASSERT_TRUE(BroadcastTo(F32(Dense({2, 3, 4})), view));
  EXPECT_EQ(Sizes(view), (Numbers{2, 3, 4}));
  EXPECT_EQ(Strides(view), (Numbers{0, 1, 0}));
  EXPECT_EQ(view.elements, 24);
}

TEST(BroadcastTo, AnEmptyDimensionTakesAOne) {
  abi::View view = F32(Dense({1}));
  ASSERT_TRUE(BroadcastTo(F32(Dense({0})), view));
  EXPECT_EQ(view.elements, 0);
}

TEST(BroadcastTo, LeavesWhatDoesNotFit) {
  for (const Numbers& sizes : {Numbers{3, 2}, Numbers{1, 2, 3}, Numbers{0}}) {
    abi::View view = F32(Dense(sizes));
    EXPECT_FALSE(BroadcastTo(F32(Dense({2, 3})), view));
    EXPECT_EQ(Sizes(view), sizes);
  }
}

TEST(Coalesce, MergesWhatLiesInOneRun) {
  std::vector<abi::View> views = {F32(Dense({2, 3, 4})), F32(Dense({2, 3, 4}))};
  Coalesce(absl::MakeSpan(views));
  for (const abi::View& view : views) {
    EXPECT_EQ(Sizes(view), (Numbers{24}));
    EXPECT_EQ(Strides(view), (Numbers{1}));
  }
}

TEST(Coalesce, KeepsDimensionsThatOneViewNeeds) {
  std::vector<abi::View> views = {F32(Dense({2, 3, 4})), F32({{2, 3, 4}, {0, 4, 1}, 0})};
  Coalesce(absl::MakeSpan(views));
  EXPECT_EQ(Sizes(views[0]), (Numbers{2, 12}));
  EXPECT_EQ(Strides(views[0]), (Numbers{12, 1}));
  EXPECT_EQ(Strides(views[1]), (Numbers{0, 1}));
}

TEST(Coalesce, DropsDimensionsOfOne) {
  std::vector<abi::View> views = {F32({{1, 5, 1}, {77, 2, 99}, 0})};
  Coalesce(absl::MakeSpan(views));
  EXPECT_EQ(Sizes(views[0]), (Numbers{5}));
  EXPECT_EQ(Strides(views[0]), (Numbers{2}));
  std::vector<abi::View> one = {F32({{1, 1}, {7, 7}, 3})};
  Coalesce(absl::MakeSpan(one));
  EXPECT_EQ(one[0].dims, 0);
}

TEST(Coalesce, GoesThroughMemoryInTheOutputsOrder) {
  std::vector<abi::View> views = {F32(Transposed({2, 3, 4})), F32(Transposed({2, 3, 4}))};
  Coalesce(absl::MakeSpan(views));
  EXPECT_EQ(Sizes(views[0]), (Numbers{24}));
  EXPECT_TRUE(IsContiguous(views[0]));
}

TEST(Coalesce, EmptyViewsStayEmptyWhateverTheirOtherSizes) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  std::vector<abi::View> views = {F32({{huge, 0}, {huge, huge}, 0})};
  views[0].elements = 0;
  Coalesce(absl::MakeSpan(views));
  EXPECT_EQ(views[0].elements, 0);
  EXPECT_EQ(Sizes(views[0]), (Numbers{0}));
}

TEST(Coalesce, StridesNearTheLimitDoNotOverflow) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 2;
  std::vector<abi::View> views = {F32({{2, 3}, {1, huge}, 0})};
  Coalesce(absl::MakeSpan(views));
  EXPECT_EQ(Sizes(views[0]), (Numbers{3, 2}));
}

// All places of the elements of two views, pairwise, must be the same before and after.
TEST(Coalesce, KeepsPairsOfElementsTogether) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Layout a;
    Layout b;
    const unsigned dims = random() % 5;
    for (unsigned d = 0; d < dims; ++d) {
      a.sizes.push_back(1 + random() % 3);
      a.strides.push_back(random() % 7);
      b.strides.push_back(random() % 7);
    }
    b.sizes = a.sizes;
    std::vector<abi::View> views = {F32(a), F32(b)};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> before;
    for (std::int64_t i = 0; i < views[0].elements; ++i) {
      before.emplace_back(PlaceOf(a, i), PlaceOf(b, i));
    }
    Coalesce(absl::MakeSpan(views));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> after;
    for (std::int64_t i = 0; i < views[0].elements; ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      const Offsets<2> at(views.data(), index);
      after.emplace_back(at.of[0], at.of[1]);
      EXPECT_EQ(at.of[1], ElementOffset(views[1], views[1].dims, index));
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after);
  }
}

TEST(IsContiguous, LooksAtSizesOverOneOnly) {
  EXPECT_TRUE(IsContiguous(F32(Dense({2, 3}))));
  EXPECT_TRUE(IsContiguous(F32({{2, 1, 3}, {3, 99, 1}, 4})));
  EXPECT_TRUE(IsContiguous(F32({{}, {}, 4})));
  EXPECT_TRUE(IsContiguous(F32({{0, 3}, {9, 9}, 4})));
  EXPECT_FALSE(IsContiguous(F32(Transposed({2, 3}))));
  EXPECT_FALSE(IsContiguous(F32(Repeated({2}))));
  EXPECT_FALSE(IsContiguous(F32({{2, 3}, {4, 1}, 0})));
}

}  // namespace
}  // namespace gpuos::ops
