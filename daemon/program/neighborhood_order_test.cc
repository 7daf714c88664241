// Both ways of ordering a neighborhood against every byte that its tasks touch.
#include "daemon/program/neighborhood_order.h"

#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "daemon/program/access.h"
#include "daemon/program/edge_sink.h"
#include "daemon/program/extent.h"
#include "daemon/program/task_graph.h"
#include "gtest/gtest.h"
#include "kernels/abi/dtype.h"
#include "kernels/abi/program.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {
namespace {

constexpr std::size_t kNoLimit = 1u << 20;

Footprint RandomFootprint(std::mt19937_64& random) {
  abi::View view{};
  view.dtype = abi::DType::kBool;
  view.dims = static_cast<std::uint8_t>(random() % 4);
  view.offset = random() % 60;
  view.elements = 1;
  for (std::uint32_t d = 0; d < abi::kMaxDims; ++d) {
    view.sizes[d] = d < view.dims ? static_cast<std::int64_t>(1 + random() % 4) : 1;
    view.strides[d] = d < view.dims ? static_cast<std::int64_t>(random() % 20) : 0;
    view.elements *= view.sizes[d];
  }
  return FootprintOf(view);
}

// Tasks of one to three accesses.
std::vector<Access> RandomAccesses(std::mt19937_64& random, std::uint32_t tasks) {
  std::vector<Access> accesses;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    for (std::uint64_t i = 0; i <= random() % 3; ++i) {
      accesses.push_back({.task = task,
                          .slot = 0,
                          .kind = static_cast<ops::Access>(random() % 3),
                          .footprint = RandomFootprint(random)});
    }
  }
  return accesses;
}

bool ShareBytes(const Footprint& a, const Footprint& b) {
  std::vector<ByteRange> runs_a;
  std::vector<ByteRange> runs_b;
  AppendRuns(a, runs_a);
  AppendRuns(b, runs_b);
  for (const ByteRange& x : runs_a) {
    for (const ByteRange& y : runs_b) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

class NeighborhoodOrderTest : public ::testing::Test {
 protected:
  using Order = std::function<bool(Neighborhood, EdgeSink&, std::uint32_t&)>;

  static std::vector<Edge> EdgesOf(const std::vector<Access>& accesses, const Order& order) {
    std::vector<const Access*> members;
    for (const Access& access : accesses) members.push_back(&access);
    std::vector<Edge> edges;
    EdgeSink sink(edges, kNoLimit);
    std::uint32_t task = 0;
    EXPECT_TRUE(order(members, sink, task));
    return edges;
  }

  // Pairs of tasks in conflict, and whether `edges` order all of them; edges between others.
  struct Verdict {
    bool complete = true;
    int needless = 0;
  };

  static Verdict Judge(const std::vector<Access>& accesses, const std::vector<Edge>& edges) {
    const std::uint32_t tasks = accesses.back().task + 1;
    std::vector<std::vector<bool>> before(tasks, std::vector<bool>(tasks));
    std::set<std::pair<std::uint32_t, std::uint32_t>> direct;
    for (const Edge& edge : edges) {
      EXPECT_LT(edge.before, edge.after);
      direct.insert({edge.before, edge.after});
    }
    // Edges only lead to later tasks, so that ascending order meets all before.
    for (std::uint32_t after = 0; after < tasks; ++after) {
      for (std::uint32_t task = 0; task < after; ++task) {
        if (direct.count({task, after}) == 0) continue;
        before[after][task] = true;
        for (std::uint32_t k = 0; k < task; ++k)
          before[after][k] = before[after][k] || before[task][k];
      }
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> conflicts;
    for (const Access& x : accesses) {
      for (const Access& y : accesses) {
        if (x.task < y.task && Conflict(x.kind, y.kind) && ShareBytes(x.footprint, y.footprint)) {
          conflicts.insert({x.task, y.task});
        }
      }
    }
    Verdict verdict;
    for (const auto& [first, second] : conflicts) verdict.complete &= before[second][first];
    for (const auto& edge : direct) verdict.needless += conflicts.count(edge) == 0 ? 1 : 0;
    return verdict;
  }
};

TEST_F(NeighborhoodOrderTest, PairsOrderEveryConflictAndNothingElse) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 150; ++round) {
    const std::vector<Access> accesses = RandomAccesses(random, 2 + random() % 40);
    const Verdict verdict = Judge(accesses, EdgesOf(accesses, OrderByPairs));
    ASSERT_TRUE(verdict.complete) << "round " << round;
    ASSERT_EQ(verdict.needless, 0) << "round " << round;
  }
}

TEST_F(NeighborhoodOrderTest, CellsOrderEveryConflictAndNothingElse) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 150; ++round) {
    const std::vector<Access> accesses = RandomAccesses(random, 2 + random() % 40);
    const Verdict verdict =
        Judge(accesses, EdgesOf(accesses, [](Neighborhood n, EdgeSink& e, std::uint32_t& task) {
                return OrderByCells(n, kNoLimit, e, task);
              }));
    ASSERT_TRUE(verdict.complete) << "round " << round;
    ASSERT_EQ(verdict.needless, 0) << "round " << round;
  }
}

TEST_F(NeighborhoodOrderTest, BlurredCellsStillOrderEveryConflict) {
  std::mt19937_64 random(3);
  int needless = 0;
  for (int round = 0; round < 150; ++round) {
    const std::vector<Access> accesses = RandomAccesses(random, 2 + random() % 40);
    const Verdict verdict =
        Judge(accesses, EdgesOf(accesses, [](Neighborhood n, EdgeSink& e, std::uint32_t& task) {
                return OrderByCells(n, 1, e, task);
              }));
    ASSERT_TRUE(verdict.complete) << "round " << round;
    needless += verdict.needless;
  }
  // The precaution has its price: this is what the other two ways avoid.
  EXPECT_GT(needless, 0);
}

TEST_F(NeighborhoodOrderTest, JudgeNoticesAMissingEdge) {
  std::mt19937_64 random(4);
  const std::vector<Access> accesses = RandomAccesses(random, 30);
  std::vector<Edge> edges = EdgesOf(accesses, OrderByPairs);
  ASSERT_TRUE(Judge(accesses, edges).complete);
  ASSERT_FALSE(edges.empty());
  edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 2));
  EXPECT_FALSE(Judge(accesses, edges).complete);
}

TEST_F(NeighborhoodOrderTest, BothStopAndNameTheTaskWhenTheSinkIsFull) {
  std::vector<Access> accesses;
  for (std::uint32_t task = 0; task < 5; ++task) {
    accesses.push_back({.task = task, .kind = ops::Access::kWrite, .footprint = {.run = 4}});
  }
  std::vector<const Access*> members;
  for (const Access& access : accesses) members.push_back(&access);
  for (const bool pairs : {true, false}) {
    std::vector<Edge> edges;
    EdgeSink sink(edges, 2);
    std::uint32_t task = 0;
    EXPECT_FALSE(pairs ? OrderByPairs(members, sink, task) : OrderByCells(members, 16, sink, task));
    EXPECT_EQ(task, 3u);
    EXPECT_EQ(edges.size(), 2u);
  }
}

}  // namespace
}  // namespace gpuos::program
