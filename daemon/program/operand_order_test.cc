#include "daemon/program/operand_order.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <random>
#include <string>
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kMost = 65536;
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

// Processor time that the longest program may take; sanitizers are many times slower.
#ifdef NDEBUG
constexpr double kSeconds = 2;
#else
constexpr double kSeconds = 30;
#endif

// Long programs over one slot, each of the largest size.
class LongProgramTest : public ::testing::Test {
 protected:
  static std::size_t TimedEdges(std::vector<Access> accesses) {
    const std::clock_t start = std::clock();
    std::vector<Edge> edges;
    const absl::Status status = AppendOperandEdges(std::move(accesses), edges);
    EXPECT_TRUE(status.ok()) << status;
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    RecordProperty("cpu_milliseconds", static_cast<int>(seconds * 1000));
    EXPECT_LT(seconds, kSeconds);
    return edges.size();
  }

  template <typename Function>
  static std::vector<Access> ForEachTask(const Function& function) {
    std::vector<Access> accesses;
    for (std::uint32_t task = 0; task < kMost; ++task) accesses.push_back(function(task));
    return accesses;
  }
};

TEST_F(LongProgramTest, ChainInPlace) {
  EXPECT_EQ(TimedEdges(ForEachTask([](std::uint32_t task) { return Touch(task, kWrite, 0, 64); })),
            kMost - 1);
}

TEST_F(LongProgramTest, ManyReadersBetweenTwoWriters) {
  EXPECT_EQ(TimedEdges(ForEachTask([](std::uint32_t task) {
              return Touch(task, task == 0 || task == kMost - 1 ? kWrite : kRead, 0, 64);
            })),
            2 * (kMost - 2));
}

TEST_F(LongProgramTest, ManyPiecesAndThenAllOfThem) {
  EXPECT_EQ(TimedEdges(ForEachTask([](std::uint32_t task) {
              return task == kMost - 1 ? Touch(task, kRead, 0, kMost * 4)
                                       : Touch(task, kWrite, task * 4, 4);
            })),
            kMost - 1);
}

TEST_F(LongProgramTest, PiecesAndReadersOfEverythingInTurn) {
  EXPECT_EQ(TimedEdges(ForEachTask([](std::uint32_t task) {
              return task % 2 == 0 ? Touch(task, kWrite, task * 4, 8)
                                   : Touch(task, kRead, 0, kMost * 4);
            })),
            kMost - 1);
}

TEST_F(LongProgramTest, ReadersOfPiecesUnderReadersOfEverything) {
  EXPECT_EQ(TimedEdges(ForEachTask([](std::uint32_t task) {
              return task == 0       ? Touch(task, kWrite, 0, 4)
                     : task % 2 == 0 ? Touch(task, kRead, task * 4, 8)
                                     : Touch(task, kRead, 0, kMost * 4);
            })),
            kMost / 2);
}

TEST_F(LongProgramTest, SlidingWindows) {
  EXPECT_EQ(TimedEdges(
                ForEachTask([](std::uint32_t task) { return Touch(task, kWrite, task * 4, 400); })),
            kMost - 1);
}

TEST_F(LongProgramTest, RandomRanges) {
  std::mt19937_64 random(1);
  EXPECT_LT(TimedEdges(ForEachTask([&](std::uint32_t task) {
              return Touch(task, static_cast<ops::Access>(random() % 3), random() % (1 << 20),
                           1 + random() % (1 << (random() % 16)));
            })),
            60u * kMost);
}

TEST_F(LongProgramTest, ColumnsOfAWideMatrix) {
  // Each column is written sixteen times; there are more pairs than may be compared.
  const std::size_t edges = TimedEdges(ForEachTask(
      [](std::uint32_t task) { return TouchColumn(task, kWrite, task % 4096, 1 << 20, 4096); }));
  EXPECT_LT(edges, kMost);
}

TEST_F(LongProgramTest, BlocksOfAMatrix) {
  const std::size_t edges = TimedEdges(ForEachTask([](std::uint32_t task) {
    Access block = Touch(task, kWrite, (task % 32 * 32 + task / 32 % 32 * 32 * 1024) * 4, 128);
    block.footprint.loop_count = 1;
    block.footprint.loops[0] = {4096, 32};
    return block;
  }));
  EXPECT_EQ(edges, kMost - 1024);
}

TEST_F(LongProgramTest, StridesWithoutSense) {
  std::mt19937_64 random(2);
  TimedEdges(ForEachTask([&](std::uint32_t task) {
    Access access = Touch(task, static_cast<ops::Access>(random() % 2), random() % 1000, 1);
    access.footprint.loop_count = 8;
    std::uint64_t pitch = 2;
    for (Footprint::Loop& loop : access.footprint.loops) {
      loop = {pitch += 1 + random() % 7, 2 + random() % 5};
    }
    return access;
  }));
}

TEST_F(LongProgramTest, MoreDependenciesThanAllowedAreRefusedWithTheTask) {
  std::vector<Edge> edges;
  const absl::Status status = AppendOperandEdges(ForEachTask([](std::uint32_t task) {
                                                   return task < kMost / 2
                                                              ? Touch(task, kWrite, task * 4, 4)
                                                              : Touch(task, kRead, 0, kMost * 4);
                                                 }),
                                                 edges);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("tasks[33024] brings the program to more than 8388608 dependencies"));
}

}  // namespace
}  // namespace gpuos::program
