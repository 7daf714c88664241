#include "daemon/program/operand_order.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "daemon/program/edge_sink.h"
#include "daemon/program/field_path.h"
#include "daemon/program/neighborhood_order.h"
#include "daemon/program/neighborhoods.h"

namespace gpuos::program {
namespace {

// Pairs of footprints that are compared for one program at most: about a second, whatever they are.
constexpr std::uint32_t kComparisons = 1u << 20;

// Runs into which the views of a program are cut at most, so that a short program is built quickly
// and a long one in bounded time.
constexpr std::uint64_t kRunsForAny = 4096;
constexpr std::uint64_t kRunsForEachAccess = 64;
constexpr std::uint64_t kRunsAtMost = 1u << 18;

std::uint64_t RunsFor(std::size_t accesses) {
  return std::clamp(accesses * kRunsForEachAccess, kRunsForAny, kRunsAtMost);
}

std::uint64_t SumOfRuns(Neighborhood accesses, std::uint64_t max_runs) {
  std::uint64_t sum = 0;
  for (const Access* access : accesses) sum += std::min(access->footprint.runs(), max_runs);
  return sum;
}

class OperandOrder {
 public:
  OperandOrder(std::vector<Access> accesses, std::vector<Edge>& edges)
      : accesses_(std::move(accesses)), edges_(edges, kMaxEdges), runs_(RunsFor(accesses_.size())) {
    std::stable_sort(accesses_.begin(), accesses_.end(),
                     [](const Access& a, const Access& b) { return a.slot < b.slot; });
  }

  absl::Status Run() {
    for (std::size_t first = 0, last = 0; first < accesses_.size(); first = last) {
      while (last < accesses_.size() && accesses_[last].slot == accesses_[first].slot) ++last;
      if (!OrderSlot(absl::MakeConstSpan(accesses_).subspan(first, last - first))) {
        return absl::InvalidArgumentError(
            absl::StrCat(TaskPath(task_), " brings the program to more than ", kMaxEdges,
                         " dependencies: its operands share bytes with those of very many tasks; "
                         "split the program"));
      }
    }
    return absl::OkStatus();
  }

 private:
  bool OrderSlot(absl::Span<const Access> accesses) {
    std::vector<Footprint> footprints;
    footprints.reserve(accesses.size());
    for (const Access& access : accesses) footprints.push_back(access.footprint);
    const Neighborhoods neighborhoods = SplitByOverlap(footprints, comparisons_);
    // Lists the accesses by neighborhood, in the order of their tasks.
    std::vector<std::size_t> end(neighborhoods.count + 1);
    for (const std::uint32_t of : neighborhoods.of) ++end[of + 1];
    for (std::size_t i = 1; i < end.size(); ++i) end[i] += end[i - 1];
    std::vector<const Access*> members(accesses.size());
    std::vector<std::size_t> next = end;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      members[next[neighborhoods.of[i]]++] = &accesses[i];
    }
    for (std::uint32_t i = 0; i < neighborhoods.count; ++i) {
      if (!OrderNeighborhood(absl::MakeConstSpan(members).subspan(end[i], end[i + 1] - end[i]))) {
        return false;
      }
    }
    return true;
  }

  bool OrderNeighborhood(Neighborhood accesses) {
    const bool any_conflict = std::any_of(
        accesses.begin(), accesses.end(),
        [&](const Access* access) { return Conflict(access->kind, accesses.front()->kind); });
    if (!any_conflict || accesses.front()->task == accesses.back()->task) return true;
    const std::uint64_t budget =
        std::max<std::uint64_t>(accesses.size(), runs_ * accesses.size() / accesses_.size());
    std::uint64_t max_runs = runs_;
    if (SumOfRuns(accesses, max_runs) > budget && TakePairs(accesses.size())) {
      return OrderByPairs(accesses, edges_, task_);
    }
    while (SumOfRuns(accesses, max_runs) > budget) max_runs /= 2;
    return OrderByCells(accesses, max_runs, edges_, task_);
  }

  // Whether so few accesses may be compared pair by pair.
  bool TakePairs(std::size_t accesses) {
    const std::size_t pairs = accesses * (accesses - 1) / 2;
    if (accesses > kMaxPairwise || pairs > comparisons_) return false;
    comparisons_ -= static_cast<std::uint32_t>(pairs);
    return true;
  }

  std::vector<Access> accesses_;
  EdgeSink edges_;
  const std::uint64_t runs_;
  std::uint32_t comparisons_ = kComparisons;
  std::uint32_t task_ = 0;  // The one being ordered.
};

}  // namespace

absl::Status AppendOperandEdges(std::vector<Access> accesses, std::vector<Edge>& edges) {
  accesses.erase(std::remove_if(accesses.begin(), accesses.end(),
                                [](const Access& access) { return access.footprint.empty(); }),
                 accesses.end());
  return OperandOrder(std::move(accesses), edges).Run();
}

}  // namespace gpuos::program
