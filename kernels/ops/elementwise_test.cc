// Arithmetic, functions of one number, comparisons and where: against double precision, over every
// kind of layout.
#include <cmath>
#include <cstdint>
#include <functional>
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

// Both NaN, the same infinity, or within 1e-6 of the reference, relative above 1.
void ExpectNear(float got, double want, const std::string& what) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << ": got " << got;
  } else if (std::isinf(static_cast<float>(want))) {
    EXPECT_EQ(got, static_cast<float>(want)) << what;
  } else {
    EXPECT_NEAR(got, want, 1e-6 * std::max(1.0, std::abs(want))) << what;
  }
}

std::vector<float> RandomFloats(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-4, 4);
  std::vector<float> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(values(random));
  return result;
}

const std::vector<std::vector<std::int64_t>>& Shapes() {
  static const auto& kShapes = *new std::vector<std::vector<std::int64_t>>{
      {}, {1}, {7}, {4096}, {4097}, {3, 5}, {1, 5, 1}, {2, 1, 3, 4}, {2, 1, 2, 3, 1, 2, 2, 3}};
  return kShapes;
}

using Reference1 = std::function<double(double)>;
using Reference2 = std::function<double(double, double)>;

struct Unary {
  std::string name;
  Reference1 reference;
};
struct Binary {
  std::string name;
  Reference2 reference;
};

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

const std::vector<Unary>& Unaries() {
  static const auto& kAll =
      *new std::vector<Unary>{{"neg", [](double x) { return -x; }},
                              {"relu", [](double x) { return x <= 0 ? 0.0 : x; }},
                              {"exp", [](double x) { return std::exp(x); }},
                              {"log", [](double x) { return std::log(x); }},
                              {"sqrt", [](double x) { return std::sqrt(x); }},
                              {"tanh", [](double x) { return std::tanh(x); }},
                              {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
                              {"gelu", Gelu}};
  return kAll;
}

double NanMax(double a, double b) { return a > b || std::isnan(a) ? a : b; }
double NanMin(double a, double b) { return a < b || std::isnan(a) ? a : b; }

const std::vector<Binary>& Binaries() {
  static const auto& kAll =
      *new std::vector<Binary>{{"add", [](double a, double b) { return a + b; }},
                               {"sub", [](double a, double b) { return a - b; }},
                               {"mul", [](double a, double b) { return a * b; }},
                               {"div", [](double a, double b) { return a / b; }},
                               {"maximum", NanMax},
                               {"minimum", NanMin}};
  return kAll;
}

TEST(Elementwise, FunctionsOfOneNumberAreRightInEveryLayout) {
  for (const Unary& op : Unaries()) {
    for (const auto& shape : Shapes()) {
      for (const Layout& out_layout : LayoutsOf(shape)) {
        for (const Layout& in_layout : LayoutsOf(shape)) {
          TestTensor<float> a(in_layout, RandomFloats(ElementsOf(in_layout), 1));
          TestTensor<float> out(out_layout);
          ASSERT_EQ(RunOperator(op.name, {out.operand(), a.operand()}), absl::OkStatus());
          for (std::int64_t i = 0; i < out.elements(); ++i) {
            ExpectNear(out.Get(i), op.reference(a.Get(i)), op.name);
          }
          EXPECT_TRUE(out.PaddingIsIntact()) << op.name;
        }
      }
    }
  }
}

TEST(Elementwise, FunctionsOfTwoNumbersAreRightInEveryLayout) {
  for (const Binary& op : Binaries()) {
    for (const auto& shape : Shapes()) {
      for (const Layout& layout : LayoutsOf(shape)) {
        TestTensor<float> a(Transposed(shape), RandomFloats(ElementsOf(layout), 2));
        TestTensor<float> b(layout, RandomFloats(ElementsOf(layout), 3));
        TestTensor<float> out(layout);
        ASSERT_EQ(RunOperator(op.name, {out.operand(), a.operand(), b.operand()}),
                  absl::OkStatus());
        for (std::int64_t i = 0; i < out.elements(); ++i) {
          ExpectNear(out.Get(i), op.reference(a.Get(i), b.Get(i)), op.name);
        }
        EXPECT_TRUE(out.PaddingIsIntact()) << op.name;
      }
    }
  }
}

TEST(Elementwise, InputsBroadcast) {
  const std::vector<float> values = RandomFloats(6, 4);
  TestTensor<float> row(Dense({3}), {values[0], values[1], values[2]});
  TestTensor<float> column(Dense({2, 1}), {values[3], values[4]});
  TestTensor<float> out(Spread({4, 2, 3}));
  ASSERT_EQ(RunOperator("sub", {out.operand(), column.operand(), row.operand()}), absl::OkStatus());
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    EXPECT_EQ(out.Get(i), column.Get(i / 3 % 2) - row.Get(i % 3)) << i;
  }
  EXPECT_TRUE(out.PaddingIsIntact());
}

TEST(Elementwise, AScalarOrARepeatedElementGoesEverywhere) {
  TestTensor<float> scalar(Dense({}), 2.5f);
  TestTensor<float> repeated(Repeated({5, 1000}), 4.0f);
  TestTensor<float> out(Dense({5, 1000}));
  ASSERT_EQ(RunOperator("mul", {out.operand(), scalar.operand(), repeated.operand()}),
            absl::OkStatus());
  EXPECT_EQ(out.Values(), std::vector<float>(5000, 10.0f));
}

TEST(Elementwise, ResultsDoNotDependOnHowTheTaskIsCut) {
  for (const Layout& layout : LayoutsOf({7, 11})) {
    for (std::uint64_t tile : {1, 2, 3, 76, 77, 78}) {
      TestTensor<float> a(layout, RandomFloats(77, 5));
      TestTensor<float> out(Dense({7, 11}));
      ASSERT_EQ(RunOperator("neg", {out.operand(), a.operand()}, {{}, tile}), absl::OkStatus());
      for (std::int64_t i = 0; i < 77; ++i) EXPECT_EQ(out.Get(i), -a.Get(i)) << tile;
      EXPECT_TRUE(out.PaddingIsIntact());
    }
  }
}

TEST(Elementwise, NothingToDoIsDoneAndTouchesNothing) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{0}, {3, 0, 2}, {0, 0}}) {
    TestTensor<float> a(Dense(shape));
    TestTensor<float> one(Dense({1}), 1.0f);
    TestTensor<float> out(Dense(shape));
    EXPECT_EQ(RunOperator("add", {out.operand(), a.operand(), one.operand()}), absl::OkStatus());
    EXPECT_TRUE(out.PaddingIsIntact());
  }
}

TEST(Elementwise, WorksInPlaceOnTheVerySameView) {
  for (const Layout& layout : LayoutsOf({3, 1700})) {
    const std::vector<float> before = RandomFloats(5100, 6);
    TestTensor<float> a(layout, before);
    ASSERT_EQ(RunOperator("add", {a.operand(), a.operand(), a.operand()}), absl::OkStatus());
    for (std::int64_t i = 0; i < a.elements(); ++i) {
      EXPECT_EQ(a.Get(i), 2 * before[static_cast<std::size_t>(i)]);
    }
    EXPECT_TRUE(a.PaddingIsIntact());
  }
}

TEST(Elementwise, OneHalfOfATensorMayBeComputedFromTheOther) {
  TestTensor<float> x(Dense({2, 6}), RandomFloats(12, 7));
  const std::vector<float> before = x.Values();
  ASSERT_EQ(RunOperator("neg", {x.operand({{2, 3}, {6, 1}, 0}), x.operand({{2, 3}, {6, 1}, 3})}),
            absl::OkStatus());
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(x.Get(static_cast<std::int64_t>(i)), i % 6 < 3 ? -before[i + 3] : before[i]);
  }
}

TEST(Elementwise, SpecialValuesGoThroughFunctions) {
  const std::vector<float> special = {kNan, kInf,  -kInf, 0.0f,   -0.0f, 1e-40f, -1e-40f,
                                      1.0f, 88.0f, 89.0f, -104.f, 1e30f, -1e30f, 3.4e38f};
  for (const Unary& op : Unaries()) {
    if (op.name == "gelu") continue;  // -inf * 0: see below.
    TestTensor<float> a(Dense({static_cast<std::int64_t>(special.size())}), special);
    TestTensor<float> out(Dense({static_cast<std::int64_t>(special.size())}));
    ASSERT_EQ(RunOperator(op.name, {out.operand(), a.operand()}), absl::OkStatus());
    for (std::int64_t i = 0; i < out.elements(); ++i) {
      ExpectNear(out.Get(i), op.reference(a.Get(i)), op.name + " of " + std::to_string(a.Get(i)));
    }
  }
}

TEST(Elementwise, SpecialValuesGoThroughPairs) {
  const std::vector<float> special = {kNan, kInf, -kInf, 0.0f, -0.0f, 1.0f, -3e38f, 1e-45f};
  const auto count = static_cast<std::int64_t>(special.size());
  for (const Binary& op : Binaries()) {
    TestTensor<float> a(Dense({count, 1}), special);
    TestTensor<float> b(Dense({count}), special);
    TestTensor<float> out(Dense({count, count}));
    ASSERT_EQ(RunOperator(op.name, {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
    for (std::int64_t i = 0; i < out.elements(); ++i) {
      ExpectNear(out.Get(i), op.reference(a.Get(i / count), b.Get(i % count)),
                 op.name + " of " + std::to_string(a.Get(i / count)) + " and " +
                     std::to_string(b.Get(i % count)));
    }
  }
}

float Apply(const std::string& name, float x, const RunOptions& options = {}) {
  TestTensor<float> a(Dense({}), x);
  TestTensor<float> out(Dense({}));
  EXPECT_EQ(RunOperator(name, {out.operand(), a.operand()}, options), absl::OkStatus());
  return out.Get(0);
}

float Apply(const std::string& name, float x, float y) {
  TestTensor<float> a(Dense({}), x);
  TestTensor<float> b(Dense({}), y);
  TestTensor<float> out(Dense({}));
  EXPECT_EQ(RunOperator(name, {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  return out.Get(0);
}

TEST(Elementwise, ReluKeepsNanAndHasNoNegativeZero) {
  EXPECT_TRUE(std::isnan(Apply("relu", kNan)));
  EXPECT_FALSE(std::signbit(Apply("relu", -0.0f)));
  EXPECT_EQ(Apply("relu", -kInf), 0.0f);
  EXPECT_EQ(Apply("relu", kInf), kInf);
}

TEST(Elementwise, MaximumAndMinimumGiveNanIfEitherSideIs) {
  for (const char* name : {"maximum", "minimum"}) {
    EXPECT_TRUE(std::isnan(Apply(name, kNan, 1)));
    EXPECT_TRUE(std::isnan(Apply(name, 1, kNan)));
    EXPECT_TRUE(std::isnan(Apply(name, kNan, kInf)));
    EXPECT_TRUE(std::isnan(Apply(name, -kInf, kNan)));
  }
}

TEST(Elementwise, MaximumAndMinimumTellTheZerosApart) {
  EXPECT_FALSE(std::signbit(Apply("maximum", -0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(Apply("maximum", 0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(Apply("minimum", -0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(Apply("minimum", 0.0f, -0.0f)));
}

TEST(Elementwise, GeluIsTheExactOneUnlessTanhIsAskedFor) {
  for (float x : {-6.0f, -1.5f, -0.1f, 0.0f, 0.3f, 2.0f, 9.0f}) {
    const double cubed = std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(x, 3));
    ExpectNear(Apply("gelu", x), Gelu(x), "exact");
    ExpectNear(Apply("gelu", x, {{Int(1)}, 0}), 0.5 * x * (1 + std::tanh(cubed)), "tanh");
  }
  EXPECT_TRUE(std::isnan(Apply("gelu", kNan)));
  EXPECT_EQ(Apply("gelu", kInf), kInf);
}

TEST(Elementwise, IntegersWrap) {
  const std::vector<std::int64_t> left = {kMax, kMin, kMin, 1LL << 62, -7, kMin};
  const std::vector<std::int64_t> right = {1, 1, -1, 4, 3, kMin};
  TestTensor<std::int64_t> a(Dense({6}), left);
  TestTensor<std::int64_t> b(Spread({6}), right);
  TestTensor<std::int64_t> out(Dense({6}));
  const auto run = [&](const std::string& name) {
    EXPECT_EQ(RunOperator(name, {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
    return out.Values();
  };
  EXPECT_EQ(run("add"), (std::vector<std::int64_t>{kMin, kMin + 1, kMax, (1LL << 62) + 4, -4, 0}));
  EXPECT_EQ(run("sub"),
            (std::vector<std::int64_t>{kMax - 1, kMax, kMin + 1, (1LL << 62) - 4, -10, 0}));
  EXPECT_EQ(run("mul"), (std::vector<std::int64_t>{kMax, kMin, kMin, 0, -21, 0}));
  EXPECT_EQ(run("maximum"), (std::vector<std::int64_t>{kMax, 1, -1, 1LL << 62, 3, kMin}));
  EXPECT_EQ(run("minimum"), (std::vector<std::int64_t>{1, kMin, kMin, 4, -7, kMin}));
  EXPECT_EQ(RunOperator("neg", {out.operand(), a.operand()}), absl::OkStatus());
  EXPECT_EQ(out.Values(), (std::vector<std::int64_t>{-kMax, kMin, kMin, -(1LL << 62), 7, kMin}));
}

template <typename T>
std::vector<bool> Compare(const std::string& name, const std::vector<T>& left,
                          const std::vector<T>& right) {
  const auto count = static_cast<std::int64_t>(left.size());
  TestTensor<T> a(Spread({count}), left);
  TestTensor<T> b(Dense({count}), right);
  TestTensor<bool> out(Spread({count}));
  EXPECT_EQ(RunOperator(name, {out.operand(), a.operand(), b.operand()}), absl::OkStatus());
  EXPECT_TRUE(out.PaddingIsIntact());
  return out.Values();
}

TEST(Elementwise, ComparisonsOfFloats) {
  const std::vector<float> a = {1, 2, 2, kNan, kNan, kInf, 0.0f};
  const std::vector<float> b = {2, 2, 1, kNan, 1, -kInf, -0.0f};
  EXPECT_EQ(Compare("eq", a, b), (std::vector<bool>{0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(Compare("ne", a, b), (std::vector<bool>{1, 0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(Compare("lt", a, b), (std::vector<bool>{1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Compare("le", a, b), (std::vector<bool>{1, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(Compare("gt", a, b), (std::vector<bool>{0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(Compare("ge", a, b), (std::vector<bool>{0, 1, 1, 0, 0, 1, 1}));
}

TEST(Elementwise, ComparisonsOfIntegersBeyondWhatAFloatHolds) {
  const std::vector<std::int64_t> a = {kMax, kMin, kMax - 1, 0};
  const std::vector<std::int64_t> b = {kMax - 1, kMax, kMax - 1, -1};
  EXPECT_EQ(Compare("eq", a, b), (std::vector<bool>{0, 0, 1, 0}));
  EXPECT_EQ(Compare("lt", a, b), (std::vector<bool>{0, 1, 0, 0}));
  EXPECT_EQ(Compare("ge", a, b), (std::vector<bool>{1, 0, 1, 1}));
}

TEST(Elementwise, ComparisonsOfBools) {
  const std::vector<bool> a = {0, 0, 1, 1};
  const std::vector<bool> b = {0, 1, 0, 1};
  EXPECT_EQ(Compare("eq", a, b), (std::vector<bool>{1, 0, 0, 1}));
  EXPECT_EQ(Compare("lt", a, b), (std::vector<bool>{0, 1, 0, 0}));
  EXPECT_EQ(Compare("ge", a, b), (std::vector<bool>{1, 0, 1, 1}));
}

template <typename T>
void ExpectWhereChooses(const std::vector<T>& left, const std::vector<T>& right) {
  TestTensor<bool> condition(Dense({3, 1}), {true, false, true});
  TestTensor<T> a(Transposed({3, 2}), left);
  TestTensor<T> b(Dense({2}), right);
  TestTensor<T> out(Spread({3, 2}));
  ASSERT_EQ(RunOperator("where", {out.operand(), condition.operand(), a.operand(), b.operand()}),
            absl::OkStatus());
  EXPECT_EQ(out.Values(), (std::vector<T>{left[0], left[1], right[0], right[1], left[4], left[5]}));
  EXPECT_TRUE(out.PaddingIsIntact());
}

TEST(Elementwise, WhereChoosesByTheCondition) {
  ExpectWhereChooses<float>({1, 2, 3, 4, 5, 6}, {-1, -2});
  ExpectWhereChooses<std::int64_t>({kMax, 2, 3, 4, 5, 6}, {kMin, -2});
  ExpectWhereChooses<bool>({1, 1, 1, 0, 0, 1}, {0, 0});
}

TEST(Elementwise, WhereDoesNotLetTheOtherSideThrough) {
  TestTensor<bool> condition(Dense({2}), {true, false});
  TestTensor<float> a(Dense({2}), {1, kNan});
  TestTensor<float> b(Dense({2}), {kNan, 2});
  TestTensor<float> out(Dense({2}));
  ASSERT_EQ(RunOperator("where", {out.operand(), condition.operand(), a.operand(), b.operand()}),
            absl::OkStatus());
  EXPECT_EQ(out.Values(), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace gpuos::ops
