// Which task waits for which.
#ifndef GPUOS_DAEMON_PROGRAM_TASK_GRAPH_H_
#define GPUOS_DAEMON_PROGRAM_TASK_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace gpuos::program {

// `after` starts when `before` has finished.
struct Edge {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

// The edges between `tasks` tasks, each once, by the task that they leave. Immutable, copyable.
class TaskGraph {
 public:
  // Edges may come in any order and more than once; their tasks are below `tasks`. Linear in both,
  // besides sorting the successors of each task.
  TaskGraph(std::uint32_t tasks, absl::Span<const Edge> edges);

  std::uint32_t tasks() const { return static_cast<std::uint32_t>(predecessors_.size()); }
  std::uint32_t edges() const { return static_cast<std::uint32_t>(successors_.size()); }
  // Of one task, ascending.
  absl::Span<const std::uint32_t> successors(std::uint32_t task) const {
    return absl::MakeConstSpan(successors_).subspan(first_[task], first_[task + 1] - first_[task]);
  }
  // Where they begin among the successors of all tasks, which lie in the order of the tasks.
  std::uint32_t first_successor(std::uint32_t task) const { return first_[task]; }
  const std::vector<std::uint32_t>& all_successors() const { return successors_; }
  // How many tasks `task` waits for.
  std::uint32_t predecessors(std::uint32_t task) const { return predecessors_[task]; }

  // Tasks that wait for each other in a circle, each for the one before it and the first for the
  // last, starting with the lowest; empty if there is no such circle.
  std::vector<std::uint32_t> FindCycle() const;

 private:
  std::vector<std::uint32_t> first_;  // tasks + 1 of them.
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> predecessors_;
};

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_TASK_GRAPH_H_
