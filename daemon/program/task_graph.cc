#include "daemon/program/task_graph.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gpuos::program {

TaskGraph::TaskGraph(std::uint32_t tasks, absl::Span<const Edge> edges)
    : first_(tasks + 1), successors_(edges.size()), predecessors_(tasks) {
  for (const Edge& edge : edges) ++first_[edge.before + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const Edge& edge : edges) successors_[next[edge.before]++] = edge.after;
  // Each task's successors are put in order and moved to where the ones before it ended.
  auto kept = successors_.begin();
  auto begin = successors_.begin();
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const auto end = successors_.begin() + first_[task + 1];
    std::sort(begin, end);
    first_[task] = static_cast<std::uint32_t>(kept - successors_.begin());
    kept = std::copy(begin, std::unique(begin, end), kept);
    begin = end;
  }
  first_[tasks] = static_cast<std::uint32_t>(kept - successors_.begin());
  successors_.erase(kept, successors_.end());
  for (const std::uint32_t task : successors_) ++predecessors_[task];
}

std::vector<std::uint32_t> TaskGraph::FindCycle() const {
  // Takes away tasks that wait for nothing until only circles, and what hangs on them, are left.
  std::vector<std::uint32_t> waits = predecessors_;
  std::vector<std::uint32_t> done;
  for (std::uint32_t task = 0; task < tasks(); ++task) {
    if (waits[task] == 0) done.push_back(task);
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    for (const std::uint32_t task : successors(done[i])) {
      if (--waits[task] == 0) done.push_back(task);
    }
  }
  if (done.size() == tasks()) return {};
  // Every task that is left waits for another that is left: going back from one closes a circle.
  constexpr std::uint32_t kNone = ~0u;
  std::vector<std::uint32_t> waits_for(tasks(), kNone);
  std::uint32_t task = kNone;
  for (std::uint32_t before = 0; before < tasks(); ++before) {
    if (waits[before] == 0) continue;
    for (const std::uint32_t after : successors(before)) waits_for[after] = before;
    task = before;
  }
  std::vector<bool> seen(tasks());
  while (!seen[task]) {
    seen[task] = true;
    task = waits_for[task];
  }
  std::vector<std::uint32_t> cycle;
  for (std::uint32_t at = task; cycle.empty() || at != task; at = waits_for[at]) {
    cycle.push_back(at);
  }
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace gpuos::program
