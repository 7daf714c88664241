#include "daemon/program/dependencies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/program/edge_sink.h"
#include "daemon/program/field_path.h"
#include "daemon/program/operand_order.h"

namespace gpuos::program {
namespace {

absl::Status AppendExplicitEdges(const v1::Program& program, std::vector<Edge>& edges) {
  EdgeSink sink(edges, kMaxEdges);
  const auto tasks = static_cast<std::uint32_t>(program.tasks_size());
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const auto& after = program.tasks(static_cast<int>(task)).after();
    for (int i = 0; i < after.size(); ++i) {
      if (after[i] >= tasks) {
        return absl::InvalidArgumentError(absl::StrCat(TaskPath(task), ".after[", i, "] is ",
                                                       after[i], ", but the program has ", tasks,
                                                       " tasks; tasks are counted from 0"));
      }
      if (!sink.Add(after[i], task)) {
        return absl::InvalidArgumentError(absl::StrCat(TaskPath(task),
                                                       ".after brings the program to more than ",
                                                       kMaxEdges, " dependencies; split it"));
      }
    }
  }
  return absl::OkStatus();
}

// "3 -> 7 -> 3", shortened in the middle if there are very many.
std::string DescribeCycle(const std::vector<std::uint32_t>& cycle) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i) {
    absl::StrAppend(&text, cycle[i], " -> ");
  }
  if (cycle.size() > kShown) absl::StrAppend(&text, "(", cycle.size() - kShown, " more) -> ");
  absl::StrAppend(&text, cycle.front());
  return text;
}

absl::Status RefuseCycle(const std::vector<std::uint32_t>& cycle) {
  if (cycle.size() == 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(TaskPath(cycle[0]), ".after names the task itself; remove it"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "tasks ", DescribeCycle(cycle),
      " wait for each other; `after` must not turn round the order that the list gives to tasks "
      "whose operands overlap, nor go in a circle by itself"));
}

}  // namespace

absl::StatusOr<TaskGraph> BuildDependencies(const v1::Program& program,
                                            std::vector<Access> accesses) {
  std::vector<Edge> edges;
  if (absl::Status status = AppendExplicitEdges(program, edges); !status.ok()) return status;
  if (absl::Status status = AppendOperandEdges(std::move(accesses), edges); !status.ok()) {
    return status;
  }
  TaskGraph graph(static_cast<std::uint32_t>(program.tasks_size()), edges);
  if (const std::vector<std::uint32_t> cycle = graph.FindCycle(); !cycle.empty()) {
    return RefuseCycle(cycle);
  }
  return graph;
}

}  // namespace gpuos::program
