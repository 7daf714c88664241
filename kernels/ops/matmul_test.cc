#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"

namespace gpuos::ops {
namespace {

std::vector<float> RandomFloats(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(values(random));
  return result;
}

struct Product {
  std::int64_t m;
  std::int64_t k;
  std::int64_t n;
};

void ExpectProduct(const Product& size, TestTensor<float>& out, TestTensor<float>& a,
                   TestTensor<float>& b) {
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  for (std::int64_t row = 0; row < size.m; ++row) {
    for (std::int64_t column = 0; column < size.n; ++column) {
      double want = 0;
      double magnitude = 1;
      for (std::int64_t k = 0; k < size.k; ++k) {
        const double product = double{a.Get(row * size.k + k)} * b.Get(k * size.n + column);
        want += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(out.Get(row * size.n + column), want, 1e-6 * magnitude) << row << ", " << column;
    }
  }
  EXPECT_TRUE(out.PaddingIsIntact());
}

TEST(Matmul, IsRightInEveryLayoutAroundTheEdgesOfPatches) {
  for (const Product& size : std::vector<Product>{{1, 1, 1},
                                                  {1, 64, 32},
                                                  {2, 3, 4},
                                                  {31, 63, 33},
                                                  {32, 64, 32},
                                                  {33, 65, 31},
                                                  {70, 130, 1},
                                                  {1, 200, 70}}) {
    for (const Layout& left : LayoutsOf({size.m, size.k})) {
      for (const Layout& right : LayoutsOf({size.k, size.n})) {
        TestTensor<float> a(left, RandomFloats(size.m * size.k, 1));
        TestTensor<float> b(right, RandomFloats(size.k * size.n, 2));
        TestTensor<float> out(Spread({size.m, size.n}));
        ExpectProduct(size, out, a, b);
        TestTensor<float> transposed(Transposed({size.m, size.n}));
        ExpectProduct(size, transposed, a, b);
      }
    }
  }
}

TEST(Matmul, TakesRepeatedInputs) {
  TestTensor<float> a(Repeated({3, 5}), 2.0f);
  TestTensor<float> b(Repeated({5, 4}), 0.5f);
  TestTensor<float> out(Dense({3, 4}));
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  EXPECT_EQ(out.Values(), std::vector<float>(12, 5.0f));
}

TEST(Matmul, OfATensorWithItself) {
  TestTensor<float> a(Dense({2, 2}), {1, 2, 3, 4});
  TestTensor<float> out(Dense({2, 2}));
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), a.operand()}), absl::OkStatus());
  EXPECT_EQ(out.Values(), (std::vector<float>{7, 10, 15, 22}));
}

TEST(Matmul, SumsOverNothingAreZero) {
  TestTensor<float> a(Dense({2, 0}));
  TestTensor<float> b(Dense({0, 3}));
  TestTensor<float> out(Dense({2, 3}), 9.0f);
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  EXPECT_EQ(out.Values(), std::vector<float>(6, 0.0f));
}

TEST(Matmul, WithoutRowsOrColumnsThereIsNothingToDo) {
  TestTensor<float> a(Dense({0, 3}));
  TestTensor<float> b(Dense({3, 2}));
  TestTensor<float> out(Dense({0, 2}));
  EXPECT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  TestTensor<float> c(Dense({2, 3}));
  TestTensor<float> d(Dense({3, 0}));
  TestTensor<float> none(Dense({2, 0}));
  EXPECT_EQ(RunOperator("matmul", {none.operand(), c.operand(), d.operand()}), absl::OkStatus());
}

TEST(Matmul, GivesTheSameBitsHoweverItIsCut) {
  const Product size{100, 77, 100};
  TestTensor<float> a(Dense({size.m, size.k}), RandomFloats(size.m * size.k, 3));
  TestTensor<float> b(Dense({size.k, size.n}), RandomFloats(size.k * size.n, 4));
  TestTensor<float> out(Dense({size.m, size.n}));
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  for (std::uint64_t patches : {2, 5, 16, 40}) {
    TestTensor<float> again(Dense({size.m, size.n}));
    ASSERT_EQ(RunOperator("matmul", {again.operand(), a.operand(), b.operand()}, {{}, patches}),
              absl::OkStatus());
    EXPECT_EQ(again.Values(), out.Values());
  }
}

TEST(Matmul, AddsInAscendingOrderWithOneRoundingAStep) {
  const std::vector<float> left = RandomFloats(130, 5);
  const std::vector<float> right = RandomFloats(130, 6);
  TestTensor<float> a(Dense({1, 130}), left);
  TestTensor<float> b(Dense({130, 1}), right);
  TestTensor<float> out(Dense({1, 1}));
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  float want = 0;
  for (std::size_t k = 0; k < 130; ++k) want = std::fmaf(left[k], right[k], want);
  EXPECT_EQ(out.Get(0), want);
}

TEST(Matmul, NanStaysInItsRowAndColumn) {
  TestTensor<float> a(Dense({2, 2}), {1, std::numeric_limits<float>::quiet_NaN(), 1, 1});
  TestTensor<float> b(Dense({2, 2}), {1, 2, 3, 4});
  TestTensor<float> out(Dense({2, 2}));
  ASSERT_EQ(RunOperator("matmul", {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  EXPECT_TRUE(std::isnan(out.Get(0)) && std::isnan(out.Get(1)));
  EXPECT_EQ(out.Get(2), 4.0f);
  EXPECT_EQ(out.Get(3), 6.0f);
}

}  // namespace
}  // namespace gpuos::ops
