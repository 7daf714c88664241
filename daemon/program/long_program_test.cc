// Programs of the largest size over one slot: none takes quadratic time.
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/program/access.h"
#include "daemon/program/extent.h"
#include "daemon/program/operand_order.h"
#include "daemon/program/task_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kMost = 65536;
// Of processor time; measured is 0.05 to 0.9.
constexpr double kSeconds = 2;

constexpr auto kRead = ops::Access::kRead;
constexpr auto kWrite = ops::Access::kWrite;

Access Touch(std::uint32_t task, ops::Access kind, std::uint64_t begin, std::uint64_t length) {
  return {.task = task, .slot = 0, .kind = kind, .footprint = {.begin = begin, .run = length}};
}

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
  const std::size_t edges = TimedEdges(ForEachTask([](std::uint32_t task) {
    Access column = Touch(task, kWrite, task % 4096 * 4, 4);
    column.footprint.loop_count = 1;
    column.footprint.loops[0] = {4096 * 4, 1 << 20};
    return column;
  }));
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
