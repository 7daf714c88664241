// nop, copy and fill.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"

namespace gpuos::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

template <typename To, typename From>
std::vector<To> Copied(const std::vector<From>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  TestTensor<From> a(Spread({count}), values);
  TestTensor<To> out(Spread({count}));
  EXPECT_EQ(RunOperator("copy", {out.operand(), a.operand()}), absl::OkStatus());
  EXPECT_TRUE(out.PaddingIsIntact());
  return out.Values();
}

TEST(Nop, DoesNothing) { EXPECT_EQ(RunOperator("nop", {}), absl::OkStatus()); }

TEST(Copy, BringsOneLayoutIntoAnother) {
  std::vector<float> values;
  for (int i = 0; i < 2 * 3 * 4; ++i) values.push_back(static_cast<float>(i));
  for (const Layout& from : LayoutsOf({2, 3, 4})) {
    for (const Layout& to : LayoutsOf({2, 3, 4})) {
      TestTensor<float> a(from, values);
      TestTensor<float> out(to);
      ASSERT_EQ(RunOperator("copy", {out.operand(), a.operand()}), absl::OkStatus());
      EXPECT_EQ(out.Values(), values);
      EXPECT_TRUE(out.PaddingIsIntact());
    }
  }
}

TEST(Copy, KeepsEveryBitWhereTheDTypeStays) {
  EXPECT_EQ((Copied<std::int64_t, std::int64_t>({kMin, kMax, -1})),
            (std::vector<std::int64_t>{kMin, kMax, -1}));
  EXPECT_TRUE(std::signbit(Copied<float, float>({-0.0f})[0]));
  EXPECT_EQ((Copied<bool, bool>({true, false})), (std::vector<bool>{true, false}));
}

TEST(Copy, FloatsBecomeIntegersTowardsZero) {
  EXPECT_EQ((Copied<std::int64_t, float>({1.9f, -1.9f, -0.5f, 16777216.0f})),
            (std::vector<std::int64_t>{1, -1, 0, 16777216}));
}

TEST(Copy, FloatsThatFitNoIntegerGiveWhatTheGpuGives) {
  EXPECT_EQ(
      (Copied<std::int64_t, float>({kNan, kInf, -kInf, 9.3e18f, -9.3e18f, 9223371487098961920.f})),
      (std::vector<std::int64_t>{kMin, kMax, kMin, kMax, kMin, 9223371487098961920}));
}

TEST(Copy, IntegersBecomeTheNearestFloat) {
  EXPECT_EQ(
      (Copied<float, std::int64_t>({16777217, 16777219, kMax, kMin})),
      (std::vector<float>{16777216.f, 16777220.f, 9223372036854775808.f, -9223372036854775808.f}));
}

TEST(Copy, EverythingButZeroIsTrue) {
  EXPECT_EQ((Copied<bool, float>({0.0f, -0.0f, 0.1f, kNan, -kInf, 1e-45f})),
            (std::vector<bool>{false, false, true, true, true, true}));
  EXPECT_EQ((Copied<bool, std::int64_t>({0, 256, kMin})), (std::vector<bool>{false, true, true}));
}

TEST(Copy, BoolsBecomeZeroAndOne) {
  EXPECT_EQ((Copied<float, bool>({true, false})), (std::vector<float>{1, 0}));
  EXPECT_EQ((Copied<std::int64_t, bool>({true, false})), (std::vector<std::int64_t>{1, 0}));
}

TEST(Copy, AnyByteButZeroReadsAsTrueAndIsWrittenAsOne) {
  std::vector<std::byte> from = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  std::vector<std::byte> to(4, std::byte{9});
  const abi::View view = ViewOf(abi::DType::kBool, Dense({4}));
  ASSERT_EQ(RunOperator("copy", {{view, &to}, {view, &from}}), absl::OkStatus());
  EXPECT_EQ(to, (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}}));
}

template <typename T>
std::vector<T> Filled(std::vector<abi::Scalar> attributes) {
  TestTensor<T> out(Spread({2, 2}));
  EXPECT_EQ(RunOperator("fill", {out.operand()}, {std::move(attributes), 0}), absl::OkStatus());
  EXPECT_TRUE(out.PaddingIsIntact());
  return out.Values();
}

TEST(Fill, WritesTheValueInTheOutputsDType) {
  EXPECT_EQ(Filled<float>({Float(0.1)}), std::vector<float>(4, 0.1f));
  EXPECT_EQ(Filled<std::int64_t>({Float(-2.7)}), std::vector<std::int64_t>(4, -2));
  EXPECT_EQ(Filled<bool>({Float(0.5)}), std::vector<bool>(4, true));
  EXPECT_EQ(Filled<bool>({Float(0)}), std::vector<bool>(4, false));
  EXPECT_EQ(Filled<float>({}), std::vector<float>(4, 0.0f));
}

TEST(Fill, ValuesBeyondTheDTypeDoNotFault) {
  EXPECT_EQ(Filled<float>({Float(1e300)}), std::vector<float>(4, kInf));
  EXPECT_EQ(Filled<std::int64_t>({Float(1e300)}), std::vector<std::int64_t>(4, kMax));
  EXPECT_EQ(Filled<std::int64_t>({Float(std::nan(""))}), std::vector<std::int64_t>(4, kMin));
}

TEST(Fill, IntegerHoldsWhatADoubleCannot) {
  EXPECT_EQ(Filled<std::int64_t>({Float(0), Int(kMax)}), std::vector<std::int64_t>(4, kMax));
  EXPECT_EQ(Filled<std::int64_t>({Float(0), Int((1LL << 60) + 1)}),
            std::vector<std::int64_t>(4, (1LL << 60) + 1));
}

TEST(Fill, NoElementsAreNoWork) {
  TestTensor<float> out(Dense({0, 3}));
  EXPECT_EQ(RunOperator("fill", {out.operand()}), absl::OkStatus());
  EXPECT_TRUE(out.PaddingIsIntact());
}

}  // namespace
}  // namespace gpuos::ops
