#include "daemon/program/operand_order.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/program/access.h"
#include "daemon/program/extent.h"
#include "daemon/program/task_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kRead = ops::Access::kRead;
constexpr auto kWrite = ops::Access::kWrite;
constexpr auto kAtomic = ops::Access::kAtomic;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

Access Touch(std::uint32_t task, ops::Access kind, std::uint64_t begin, std::uint64_t length,
             std::uint32_t slot = 0) {
  return {.task = task, .slot = slot, .kind = kind, .footprint = {.begin = begin, .run = length}};
}

// Column `column` of a matrix of 4-byte elements.
Access TouchColumn(std::uint32_t task, ops::Access kind, std::uint64_t column, std::uint64_t rows,
                   std::uint64_t columns) {
  Footprint footprint{.begin = column * 4, .run = 4, .loop_count = 1};
  footprint.loops[0] = {columns * 4, rows};
  return {.task = task, .slot = 0, .kind = kind, .footprint = footprint};
}

std::vector<Pair> EdgesOf(std::vector<Access> accesses) {
  std::vector<Edge> edges;
  const absl::Status status = AppendOperandEdges(std::move(accesses), edges);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<Pair> pairs;
  for (const Edge& edge : edges) pairs.emplace_back(edge.before, edge.after);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

TEST(OperandOrder, ReadsWaitForTheWriteAndTheNextWriteForTheReads) {
  EXPECT_THAT(EdgesOf({Touch(0, kWrite, 0, 8), Touch(1, kRead, 0, 8), Touch(2, kRead, 4, 4),
                       Touch(3, kWrite, 0, 8)}),
              ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 3), Pair(2, 3)));
}

TEST(OperandOrder, WritesWaitForWrites) {
  EXPECT_THAT(EdgesOf({Touch(0, kWrite, 0, 8), Touch(1, kWrite, 7, 8), Touch(2, kWrite, 0, 16)}),
              ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(OperandOrder, ReadsDoNotWaitForReads) {
  EXPECT_THAT(EdgesOf({Touch(0, kRead, 0, 8), Touch(1, kRead, 0, 8)}), IsEmpty());
}

TEST(OperandOrder, AtomicAccessesWaitForReadsAndWritesButNotForEachOther) {
  EXPECT_THAT(EdgesOf({Touch(0, kAtomic, 0, 8), Touch(1, kAtomic, 0, 8), Touch(2, kRead, 0, 8),
                       Touch(3, kAtomic, 0, 8), Touch(4, kWrite, 0, 8)}),
              ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 3), Pair(3, 4)));
}

TEST(OperandOrder, NeighboursAndOtherSlotsDoNotMatter) {
  EXPECT_THAT(EdgesOf({Touch(0, kWrite, 0, 8), Touch(1, kWrite, 8, 8), Touch(2, kWrite, 0, 8, 1),
                       Touch(3, kRead, 16, 0)}),
              IsEmpty());
}

TEST(OperandOrder, TaskDoesNotWaitForItself) {
  EXPECT_THAT(EdgesOf({Touch(0, kWrite, 0, 8), Touch(0, kRead, 0, 8), Touch(1, kWrite, 0, 8),
                       Touch(1, kRead, 0, 8)}),
              ElementsAre(Pair(0, 1)));
}

TEST(OperandOrder, LaterPartialWriteLeavesTheRestOfAnEarlierOne) {
  EXPECT_THAT(EdgesOf({Touch(0, kWrite, 0, 12), Touch(1, kWrite, 4, 4), Touch(2, kRead, 8, 4),
                       Touch(3, kRead, 0, 4), Touch(4, kRead, 4, 4)}),
              ElementsAre(Pair(0, 1), Pair(0, 2), Pair(0, 3), Pair(1, 4)));
}

TEST(OperandOrder, ColumnsOfOneMatrixDoNotWaitForEachOther) {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 40;
  EXPECT_THAT(EdgesOf({TouchColumn(0, kWrite, 0, kRows, 2), TouchColumn(1, kWrite, 1, kRows, 2),
                       TouchColumn(2, kRead, 0, kRows, 2), TouchColumn(3, kRead, 1, kRows, 2)}),
              ElementsAre(Pair(0, 2), Pair(1, 3)));
}

TEST(OperandOrder, ColumnsKeepApartAlsoWhenSomethingCoversThemAll) {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 40;
  EXPECT_THAT(EdgesOf({TouchColumn(0, kWrite, 0, kRows, 2), TouchColumn(1, kWrite, 1, kRows, 2),
                       Touch(2, kRead, 0, kRows * 8)}),
              ElementsAre(Pair(0, 2), Pair(1, 2)));
}

// A cache that grows row by row and is read up to the newest row: no row is written in vain order.
TEST(OperandOrder, WritingTheNextRowDoesNotWaitForReadersOfTheRowsBefore) {
  EXPECT_THAT(EdgesOf({Touch(0, kWrite, 0, 8), Touch(1, kRead, 0, 8), Touch(2, kWrite, 8, 8),
                       Touch(3, kRead, 0, 16)}),
              ElementsAre(Pair(0, 1), Pair(0, 3), Pair(2, 3)));
}

TEST(OperandOrder, LeavesOutWhatACompleteOrderImplies) {
  std::vector<Access> accesses;
  for (std::uint32_t task = 0; task < 100; task += 2) {
    accesses.push_back(Touch(task, kWrite, task * 4, 8));
    accesses.push_back(Touch(task + 1, kRead, 0, 400));
  }
  EXPECT_EQ(EdgesOf(accesses).size(), 99u);
}

}  // namespace
}  // namespace gpuos::program
