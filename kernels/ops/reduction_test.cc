// sum, max, argmax and softmax over the last dimension.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"

namespace gpuos::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::vector<float> RandomFloats(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-4, 4);
  std::vector<float> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(values(random));
  return result;
}

std::vector<std::int64_t> WithoutLast(std::vector<std::int64_t> sizes) {
  if (!sizes.empty()) sizes.pop_back();
  return sizes;
}

// Reduces one tensor in its layout to a dense output.
template <typename Out, typename In>
std::vector<Out> Reduce(const std::string& name, const Layout& layout,
                        const std::vector<In>& values, std::uint64_t tile_size = 0) {
  TestTensor<In> a(layout, values);
  TestTensor<Out> out(Spread(WithoutLast(layout.sizes)));
  EXPECT_EQ(RunOperator(name, {out.operand(), a.operand()}, {{}, tile_size}), absl::OkStatus());
  EXPECT_TRUE(out.PaddingIsIntact());
  return out.Values();
}

const std::vector<std::vector<std::int64_t>>& Shapes() {
  static const auto& kShapes = *new std::vector<std::vector<std::int64_t>>{
      {}, {1}, {9}, {5000}, {300, 17}, {3, 1}, {1, 257}, {2, 1, 3, 4}, {2, 1, 2, 1, 2, 1, 2, 3}};
  return kShapes;
}

std::int64_t ColumnsOf(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? 1 : shape.back();
}

TEST(Reductions, AreRightInEveryLayout) {
  for (const auto& shape : Shapes()) {
    for (const Layout& layout : LayoutsOf(shape)) {
      const std::vector<float> values = RandomFloats(ElementsOf(layout), 1);
      const auto sums = Reduce<float>("sum", layout, values);
      const auto greatest = Reduce<float>("max", layout, values);
      const auto places = Reduce<std::int64_t>("argmax", layout, values);
      const std::int64_t columns = ColumnsOf(shape);
      for (std::size_t row = 0; row < sums.size(); ++row) {
        const auto first = values.begin() + static_cast<std::int64_t>(row) * columns;
        double sum = 0;
        for (auto x = first; x != first + columns; ++x) sum += *x;
        const auto best = std::max_element(first, first + columns);
        EXPECT_NEAR(sums[row], sum, 1e-6 * std::max(1.0, std::abs(sum)));
        EXPECT_EQ(greatest[row], *best);
        EXPECT_EQ(places[row], best - first);
      }
    }
  }
}

TEST(Reductions, DoNotDependOnHowTheTaskIsCut) {
  const std::vector<float> values = RandomFloats(13 * 7, 2);
  const auto whole = Reduce<float>("sum", Dense({13, 7}), values);
  for (std::uint64_t rows : {1, 2, 12, 13, 100}) {
    EXPECT_EQ(Reduce<float>("sum", Dense({13, 7}), values, rows), whole);
  }
}

TEST(Reductions, AWideInputMayRepeatOneElement) {
  TestTensor<float> a(Repeated({4, 100000}), 0.1f);
  TestTensor<float> out(Dense({4}));
  ASSERT_EQ(RunOperator("sum", {out.operand(), a.operand()}), absl::OkStatus());
  // A sum in single precision would be off by more than one in a thousand here.
  for (float sum : out.Values()) EXPECT_NEAR(sum, 100000 * double{0.1f}, 1e-3);
}

TEST(Sum, OfNothingIsZero) {
  EXPECT_EQ(Reduce<float>("sum", Dense({3, 0}), std::vector<float>{}),
            (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Reduce<std::int64_t>("sum", Dense({0}), std::vector<bool>{}),
            (std::vector<std::int64_t>{0}));
}

TEST(Reductions, OverNoRowsGiveNoResults) {
  EXPECT_TRUE(Reduce<float>("sum", Dense({0, 5}), std::vector<float>{}).empty());
  EXPECT_TRUE(Reduce<float>("max", Dense({0, 5}), std::vector<float>{}).empty());
  EXPECT_TRUE(Reduce<std::int64_t>("argmax", Dense({2, 0, 5}), std::vector<float>{}).empty());
}

TEST(Reductions, OfNothingHaveNoMaximum) {
  TestTensor<float> a(Dense({2, 0}));
  TestTensor<float> out(Dense({2}));
  const absl::Status status = RunOperator("max", {out.operand(), a.operand()});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      status.message(),
      "operand 1 (a) has shape [2, 0], whose last dimension is empty: there is no max of nothing");
}

TEST(Sum, OfIntegersWrapsAndOfBoolsCounts) {
  EXPECT_EQ(
      Reduce<std::int64_t>("sum", Dense({2, 2}), std::vector<std::int64_t>{kMax, 1, kMin, -1}),
      (std::vector<std::int64_t>{kMin, kMax}));
  EXPECT_EQ(Reduce<std::int64_t>("sum", Spread({2, 3}), std::vector<bool>{1, 0, 1, 0, 0, 0}),
            (std::vector<std::int64_t>{2, 0}));
}

TEST(Sum, KeepsInfinitiesAndNan) {
  const auto sums =
      Reduce<float>("sum", Dense({3, 2}), std::vector<float>{kInf, 1, kInf, -kInf, kNan, 1});
  EXPECT_EQ(sums[0], kInf);
  EXPECT_TRUE(std::isnan(sums[1]));
  EXPECT_TRUE(std::isnan(sums[2]));
}

TEST(Max, NanWinsWhereverItStands) {
  for (int place = 0; place < 5; ++place) {
    std::vector<float> values = {1, kInf, -3, 2, -kInf};
    values[static_cast<std::size_t>(place)] = kNan;
    EXPECT_TRUE(std::isnan(Reduce<float>("max", Dense({5}), values)[0])) << place;
    EXPECT_EQ(Reduce<std::int64_t>("argmax", Dense({5}), values)[0], place);
  }
}

TEST(Argmax, TheFirstOfEqualsWins) {
  EXPECT_EQ(Reduce<std::int64_t>(
                "argmax", Dense({4, 3}),
                std::vector<float>{1, 7, 7, kNan, 1, kNan, 0.0f, -0.0f, 0.0f, -kInf, -kInf, -kInf}),
            (std::vector<std::int64_t>{1, 0, 0, 0}));
  EXPECT_EQ(Reduce<std::int64_t>("argmax", Dense({2, 3}),
                                 std::vector<std::int64_t>{kMin, kMin, kMin, -1, kMax, kMax}),
            (std::vector<std::int64_t>{0, 1}));
}

TEST(Max, OfIntegersIsExact) {
  EXPECT_EQ(Reduce<std::int64_t>("max", Dense({2, 2}),
                                 std::vector<std::int64_t>{kMax - 1, kMax, kMin, kMin + 1}),
            (std::vector<std::int64_t>{kMax, kMin + 1}));
}

std::vector<float> Softmax(const Layout& layout, const std::vector<float>& values) {
  TestTensor<float> a(layout, values);
  TestTensor<float> out(Spread(layout.sizes));
  EXPECT_EQ(RunOperator("softmax", {out.operand(), a.operand()}), absl::OkStatus());
  EXPECT_TRUE(out.PaddingIsIntact());
  return out.Values();
}

TEST(Softmax, IsRightInEveryLayout) {
  for (const auto& shape : Shapes()) {
    for (const Layout& layout : LayoutsOf(shape)) {
      const std::vector<float> values = RandomFloats(ElementsOf(layout), 3);
      const std::vector<float> got = Softmax(layout, values);
      const auto columns = static_cast<std::size_t>(ColumnsOf(shape));
      for (std::size_t row = 0; row * columns < got.size(); ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i)
          sum += std::exp(double{values[row * columns + i]});
        for (std::size_t i = 0; i < columns; ++i) {
          EXPECT_NEAR(got[row * columns + i], std::exp(double{values[row * columns + i]}) / sum,
                      1e-6);
        }
      }
    }
  }
}

TEST(Softmax, LargeNumbersDoNotOverflow) {
  const std::vector<float> got = Softmax(Dense({3}), {1000, 1000, -1000});
  EXPECT_EQ(got, (std::vector<float>{0.5f, 0.5f, 0}));
}

TEST(Softmax, ARowOfMinusInfinityIsNanAndLeavesItsNeighboursAlone) {
  const std::vector<float> got = Softmax(Dense({3, 2}), {-kInf, 0, -kInf, -kInf, 1, 1});
  EXPECT_EQ(got[0], 0.0f);
  EXPECT_EQ(got[1], 1.0f);
  EXPECT_TRUE(std::isnan(got[2]) && std::isnan(got[3]));
  EXPECT_EQ(got[4], 0.5f);
  EXPECT_EQ(got[5], 0.5f);
}

TEST(Softmax, NanOrInfinityMakesItsRowNan) {
  for (float bad : {kNan, kInf}) {
    const std::vector<float> got = Softmax(Dense({2, 2}), {bad, bad, 3, 3});
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]));
    EXPECT_EQ(got[2], 0.5f);
  }
}

TEST(Softmax, OfNothingIsNothing) {
  EXPECT_TRUE(Softmax(Dense({3, 0}), {}).empty());
  EXPECT_TRUE(Softmax(Dense({0, 3}), {}).empty());
}

}  // namespace
}  // namespace gpuos::ops
