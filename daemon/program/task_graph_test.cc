#include "daemon/program/task_graph.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TaskGraph, KeepsEachEdgeOnceInAscendingOrder) {
  const TaskGraph graph(4, {{2, 3}, {0, 3}, {0, 1}, {0, 3}, {2, 3}, {0, 2}});
  EXPECT_EQ(graph.edges(), 4u);
  EXPECT_THAT(graph.successors(0), ElementsAre(1, 2, 3));
  EXPECT_THAT(graph.successors(1), IsEmpty());
  EXPECT_THAT(graph.successors(2), ElementsAre(3));
  EXPECT_THAT(graph.all_successors(), ElementsAre(1, 2, 3, 3));
  EXPECT_EQ(graph.first_successor(2), 3u);
  EXPECT_EQ(graph.predecessors(0), 0u);
  EXPECT_EQ(graph.predecessors(3), 2u);
}

TEST(TaskGraph, MayBeEmpty) {
  const TaskGraph graph(0, {});
  EXPECT_EQ(graph.tasks(), 0u);
  EXPECT_EQ(graph.edges(), 0u);
  EXPECT_THAT(graph.FindCycle(), IsEmpty());
}

TEST(TaskGraph, NamesTheTasksOfACycleInTheOrderThatTheyWait) {
  // 0 leads into the circle 3 -> 7 -> 5 -> 3, 1 hangs behind it.
  const TaskGraph graph(8, {{0, 7}, {3, 7}, {7, 5}, {5, 3}, {5, 1}});
  EXPECT_THAT(graph.FindCycle(), ElementsAre(3, 7, 5));
}

TEST(TaskGraph, TaskThatWaitsForItselfIsACycleOfOne) {
  EXPECT_THAT(TaskGraph(3, {{0, 1}, {1, 1}, {1, 2}}).FindCycle(), ElementsAre(1));
}

TEST(TaskGraph, EveryCycleThatIsFoundExists) {
  std::mt19937 random(5);
  int cycles = 0;
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t tasks = 2 + random() % 20;
    std::vector<Edge> edges(random() % 30);
    for (Edge& edge : edges) {
      edge = {static_cast<std::uint32_t>(random() % tasks),
              static_cast<std::uint32_t>(random() % tasks)};
      if (round % 2 == 0 && edge.before > edge.after) std::swap(edge.before, edge.after);
      if (round % 2 == 0 && edge.before == edge.after) edge = {0, 1};
    }
    const TaskGraph graph(tasks, edges);
    const std::vector<std::uint32_t> cycle = graph.FindCycle();
    if (round % 2 == 0) {
      ASSERT_THAT(cycle, IsEmpty());
    }
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::uint32_t next = cycle[(i + 1) % cycle.size()];
      ASSERT_THAT(graph.successors(cycle[i]), ::testing::Contains(next));
    }
    cycles += cycle.empty() ? 0 : 1;
  }
  EXPECT_GT(cycles, 50);
}

}  // namespace
}  // namespace gpuos::program
