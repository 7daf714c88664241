// PlanTask: how tasks are cut, what operators are called with, and what is refused in which words.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"
#include "kernels/ops/signature.h"
#include "kernels/ops/tuning.h"

namespace gpuos::ops {
namespace {

const Signature& Find(const std::string& name) {
  for (const Signature& signature : Builtins()) {
    if (signature.name == name) return signature;
  }
  ADD_FAILURE() << "no operator " << name;
  return Builtins().front();
}

abi::View F32(const Layout& layout, std::uint32_t slot) {
  return ViewOf(abi::DType::kF32, layout, slot);
}
abi::View I64(const Layout& layout, std::uint32_t slot) {
  return ViewOf(abi::DType::kI64, layout, slot);
}
abi::View Bool(const Layout& layout, std::uint32_t slot) {
  return ViewOf(abi::DType::kBool, layout, slot);
}

Plan Planned(const std::string& name, std::vector<abi::View> views) {
  const absl::StatusOr<Plan> plan = PlanTask(Find(name), absl::MakeSpan(views));
  EXPECT_EQ(plan.status(), absl::OkStatus());
  return plan.value_or(Plan{});
}

void ExpectRefused(const std::string& name, std::vector<abi::View> views,
                   const std::string& sentence) {
  const std::vector<abi::View> before = views;
  const absl::Status status = PlanTask(Find(name), absl::MakeSpan(views)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), sentence);
}

constexpr std::int64_t kHuge = std::int64_t{1} << 31;

TEST(Plan, CutsElementwiseTasksByElements) {
  const auto tiles = [](std::int64_t elements) {
    return Planned("neg", {F32(Dense({elements}), 0), F32(Dense({elements}), 1)}).tiles;
  };
  EXPECT_EQ(tiles(0), 1u);
  EXPECT_EQ(tiles(1), 1u);
  EXPECT_EQ(tiles(4096), 1u);
  EXPECT_EQ(tiles(4097), 2u);
  EXPECT_EQ(tiles(kHuge - 2), 524288u);
  EXPECT_EQ(tiles(kHuge), 524288u);
  EXPECT_EQ(tiles(kHuge + 1), 524289u);
}

TEST(Plan, MakesTilesLargerBeforeThereAreTooMany) {
  const std::int64_t elements = std::int64_t{1} << 50;
  const Plan plan = Planned("fill", {Bool(Dense({elements}), 0)});
  EXPECT_LE(plan.tiles, kMaxTiles);
  EXPECT_GE(plan.tiles * plan.tile_size, static_cast<std::uint64_t>(elements));
}

TEST(Plan, CutsReductionsByRows) {
  const Plan plan = Planned("sum", {F32(Dense({1000}), 0), F32(Dense({1000, 17}), 1)});
  EXPECT_EQ(plan.tile_size, 240u);
  EXPECT_EQ(plan.tiles, 5u);
  EXPECT_EQ(Planned("sum", {F32(Dense({3}), 0), F32(Dense({3, 100000}), 1)}).tiles, 3u);
  EXPECT_EQ(Planned("sum", {F32(Dense({}), 0), F32(Dense({}), 1)}).tiles, 1u);
  EXPECT_EQ(Planned("sum", {F32(Dense({5000}), 0), F32(Dense({5000, 0}), 1)}).tiles, 2u);
  EXPECT_EQ(Planned("softmax", {F32(Dense({1 << 20, 0}), 0), F32(Dense({1 << 20, 0}), 1)}).tiles,
            1u);
}

TEST(Plan, CutsMatmulByPatches) {
  const auto tiles = [](std::int64_t m, std::int64_t n) {
    return Planned("matmul", {F32(Dense({m, n}), 0), F32(Dense({m, 5}), 1), F32(Dense({5, n}), 2)})
        .tiles;
  };
  EXPECT_EQ(tiles(32, 32), 1u);
  EXPECT_EQ(tiles(33, 32), 2u);
  EXPECT_EQ(tiles(100, 100), 16u);
  EXPECT_EQ(tiles(0, 100), 1u);
}

TEST(Plan, TellsTheOperatorWhatIsContiguous) {
  std::vector<abi::View> views = {F32(Dense({2, 3}), 0), F32(Dense({2, 3}), 1), F32(Dense({3}), 2)};
  ASSERT_TRUE(PlanTask(Find("add"), absl::MakeSpan(views)).ok());
  EXPECT_EQ(views[0].contiguous, 1);
  EXPECT_EQ(views[1].contiguous, 1);
  EXPECT_EQ(views[2].contiguous, 0);
  EXPECT_EQ(views[2].dims, 2);
  EXPECT_EQ(views[2].strides[0], 0);
}

TEST(Plan, LeavesShapesOfOtherOperatorsAlone) {
  std::vector<abi::View> views = {F32(Dense({4}), 0), F32(Dense({4, 3}), 1)};
  ASSERT_TRUE(PlanTask(Find("sum"), absl::MakeSpan(views)).ok());
  EXPECT_EQ(views[1].dims, 2);
  EXPECT_EQ(views[1].contiguous, 1);
}

TEST(Refusals, NumberOfOperands) {
  ExpectRefused("add", {F32(Dense({2}), 0), F32(Dense({2}), 1)},
                "add takes 3 operands, outputs first; got 2");
  ExpectRefused("nop", {F32(Dense({2}), 0)}, "nop takes 0 operands, outputs first; got 1");
}

TEST(Refusals, DTypes) {
  ExpectRefused("div", {F32(Dense({2}), 0), I64(Dense({2}), 1), F32(Dense({2}), 2)},
                "operand 1 (a) has dtype I64; div takes F32 there: convert it with copy");
  ExpectRefused("add", {F32(Dense({2}), 0), Bool(Dense({2}), 1), F32(Dense({2}), 2)},
                "operand 1 (a) has dtype BOOL; add takes F32 or I64 there: convert it with copy");
  ExpectRefused("add", {F32(Dense({2}), 0), F32(Dense({2}), 1), I64(Dense({2}), 2)},
                "operand 2 (b) has dtype I64 and operand 0 (out) has F32; add needs them equal: "
                "convert one with copy");
  ExpectRefused("eq", {Bool(Dense({2}), 0), F32(Dense({2}), 1), I64(Dense({2}), 2)},
                "operand 2 (b) has dtype I64 and operand 1 (a) has F32; eq needs them equal: "
                "convert one with copy");
  ExpectRefused(
      "where", {F32(Dense({2}), 0), F32(Dense({2}), 1), F32(Dense({2}), 2), F32(Dense({2}), 3)},
      "operand 1 (condition) has dtype F32; where takes BOOL there: convert it with copy");
  ExpectRefused("sum", {F32(Dense({}), 0), Bool(Dense({2}), 1)},
                "operand 0 (out) has dtype F32; the sum of BOOL is I64");
  ExpectRefused("argmax", {F32(Dense({}), 0), F32(Dense({2}), 1)},
                "operand 0 (out) has dtype F32; argmax takes I64 there: convert it with copy");
}

TEST(Refusals, Shapes) {
  ExpectRefused("add", {F32(Dense({2, 4}), 0), F32(Dense({3, 4}), 1), F32(Dense({4}), 2)},
                "operand 1 (a) has shape [3, 4], which does not broadcast to the output's [2, 4]");
  ExpectRefused("neg", {F32(Dense({4}), 0), F32(Dense({1, 4}), 1)},
                "operand 1 (a) has shape [1, 4], which does not broadcast to the output's [4]");
  ExpectRefused("neg", {F32(Dense({1}), 0), F32(Dense({0}), 1)},
                "operand 1 (a) has shape [0], which does not broadcast to the output's [1]");
  ExpectRefused("sum", {F32(Dense({3}), 0), F32(Dense({2, 3}), 1)},
                "operand 0 (out) has shape [3]; sum of [2, 3] over its last dimension has [2]");
  ExpectRefused("softmax", {F32(Dense({3}), 0), F32(Dense({2, 3}), 1)},
                "operand 0 (out) has shape [3]; softmax of [2, 3] has [2, 3]");
  ExpectRefused("argmax", {I64(Dense({2}), 0), F32(Dense({2, 0}), 1)},
                "operand 1 (a) has shape [2, 0], whose last dimension is empty: there is no argmax "
                "of nothing");
  ExpectRefused("matmul", {F32(Dense({2, 2}), 0), F32(Dense({2}), 1), F32(Dense({2, 2}), 2)},
                "operand 1 (a) has shape [2]; matmul takes 2 dimensions");
  ExpectRefused("matmul", {F32(Dense({2, 2}), 0), F32(Dense({2, 3}), 1), F32(Dense({4, 2}), 2)},
                "operand 1 (a) has shape [2, 3] and operand 2 (b) has [4, 2]: the 3 columns of the "
                "one are not the 4 rows of the other");
  ExpectRefused("matmul", {F32(Dense({2, 5}), 0), F32(Dense({2, 3}), 1), F32(Dense({3, 2}), 2)},
                "operand 0 (out) has shape [2, 5]; matmul of [2, 3] and [3, 2] is [2, 2]");
}

TEST(Refusals, AnOutputInWhichElementsShareAnAddress) {
  ExpectRefused("fill", {F32(Repeated({3}), 0)},
                "operand 0 (out) has shape [3] and strides under which several elements share one "
                "address: write to a tensor of its own, or copy");
  ExpectRefused("fill", {F32({{3, 4}, {2, 1}, 0}, 0)},
                "operand 0 (out) has shape [3, 4] and strides under which several elements share "
                "one address: write to a tensor of its own, or copy");
}

TEST(Refusals, AnOutputOfHopelessStrides) {
  std::vector<std::int64_t> primes = {45613, 45631, 45641, 45659, 45667, 45673, 45677};
  std::vector<std::int64_t> sizes(7, 60);
  const absl::Status status = [&] {
    std::vector<abi::View> views = {F32({sizes, primes, 0}, 0)};
    return PlanTask(Find("fill"), absl::MakeSpan(views)).status();
  }();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(Plan, TakesInterleavedOutputsThatDoNotOverlap) {
  Planned("fill", {F32({{2, 3}, {3, 2}, 0}, 0)});
  Planned("fill", {F32({{4, 1}, {2, 0}, 0}, 0)});
}

TEST(Refusals, PartialOverlapOfInputAndOutput) {
  ExpectRefused("neg", {F32({{3}, {1}, 1}, 0), F32({{3}, {1}, 0}, 0)},
                "operand 0 (out) shares memory with operand 1 (a); neg can work in place only on "
                "the very same view: write to another tensor");
  ExpectRefused("add", {F32(Dense({2, 2}), 0), F32(Dense({2, 2}), 1), F32(Transposed({2, 2}), 0)},
                "operand 0 (out) shares memory with operand 2 (b); add can work in place only on "
                "the very same view: write to another tensor");
  ExpectRefused("add", {F32(Dense({2, 2}), 0), F32(Dense({2}), 0), F32(Dense({2, 2}), 1)},
                "operand 0 (out) shares memory with operand 1 (a); add can work in place only on "
                "the very same view: write to another tensor");
  ExpectRefused("copy", {Bool(Dense({4}), 0), F32(Dense({4}), 0)},
                "operand 0 (out) shares memory with operand 1 (a); copy can work in place only on "
                "the very same view: write to another tensor");
}

TEST(Refusals, AnyOverlapWhereOperatorsReadAnElementMoreThanOnce) {
  ExpectRefused("softmax", {F32(Dense({2, 3}), 0), F32(Dense({2, 3}), 0)},
                "operand 0 (out) shares memory with operand 1 (a); softmax cannot work in place: "
                "write to another tensor");
  ExpectRefused("matmul", {F32(Dense({2, 2}), 0), F32(Dense({2, 2}), 1), F32(Dense({2, 2}), 0)},
                "operand 0 (out) shares memory with operand 2 (b); matmul cannot work in place: "
                "write to another tensor");
}

TEST(Plan, AllowsTheSameViewAndNeighboursInOneSlot) {
  Planned("add", {F32(Dense({2, 2}), 0), F32(Dense({2, 2}), 0), F32(Dense({2, 2}), 0)});
  Planned("neg", {F32({{1, 3}, {9, 1}, 0}, 0), F32({{1, 3}, {3, 1}, 0}, 0)});
  Planned("softmax", {F32({{2, 3}, {6, 1}, 0}, 0), F32({{2, 3}, {6, 1}, 3}, 0)});
  Planned("matmul", {F32(Dense({2, 2}), 0), F32(Dense({2, 2}), 1), F32(Dense({2, 2}), 1)});
}

TEST(Plan, EmptyTensorsOverlapNothing) {
  Planned("softmax", {F32(Dense({0, 3}), 0), F32(Dense({0, 3}), 0)});
  Planned("fill", {F32(Repeated({0, 3}), 0)});
}

TEST(Signature, OutputsComeFirstAndAreCounted) {
  EXPECT_EQ(Find("add").outputs(), 1u);
  EXPECT_EQ(Find("nop").outputs(), 0u);
}

TEST(Signature, EveryShapeRuleIsDescribed) {
  for (ShapeRule rule : {ShapeRule::kElementwise, ShapeRule::kReduceLast, ShapeRule::kRowwise,
                         ShapeRule::kMatmul, ShapeRule::kUnconstrained}) {
    EXPECT_FALSE(Describe(rule).empty());
  }
}

}  // namespace
}  // namespace gpuos::ops
