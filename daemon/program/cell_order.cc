#include <algorithm>
#include <cstddef>
#include <vector>

#include "daemon/program/access_index.h"
#include "daemon/program/extent.h"
#include "daemon/program/neighborhood_order.h"

namespace gpuos::program {
namespace {

// The runs of all accesses as ranges of cells.
class CellTable {
 public:
  CellTable(Neighborhood accesses, std::uint64_t max_runs) {
    std::vector<ByteRange> runs;
    first_.reserve(accesses.size() + 1);
    for (const Access* access : accesses) {
      first_.push_back(runs.size());
      AppendRuns(Blur(access->footprint, max_runs), runs);
      MergeFrom(first_.back(), runs);
    }
    first_.push_back(runs.size());
    for (const ByteRange& run : runs) {
      cuts_.push_back(run.begin);
      cuts_.push_back(run.end);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    for (const ByteRange& run : runs) ranges_.push_back({CutAt(run.begin), CutAt(run.end)});
  }

  std::uint32_t cells() const { return static_cast<std::uint32_t>(cuts_.size() - 1); }
  absl::Span<const CellRange> ranges(std::size_t access) const {
    return absl::MakeConstSpan(ranges_).subspan(first_[access],
                                                first_[access + 1] - first_[access]);
  }

 private:
  // Puts the runs from `first` on in order and joins those that touch.
  static void MergeFrom(std::size_t first, std::vector<ByteRange>& runs) {
    std::sort(runs.begin() + static_cast<std::ptrdiff_t>(first), runs.end());
    std::size_t kept = first;
    for (std::size_t i = first + 1; i < runs.size(); ++i) {
      if (runs[i].begin <= runs[kept].end) {
        runs[kept].end = std::max(runs[kept].end, runs[i].end);
      } else {
        runs[++kept] = runs[i];
      }
    }
    runs.resize(kept + 1);
  }

  std::uint32_t CutAt(std::uint64_t byte) const {
    return static_cast<std::uint32_t>(std::lower_bound(cuts_.begin(), cuts_.end(), byte) -
                                      cuts_.begin());
  }

  std::vector<std::size_t> first_;  // Of each access, in ranges_.
  std::vector<std::uint64_t> cuts_;
  std::vector<CellRange> ranges_;
};

// Orders tasks one after another. A task's rank counts the tasks of the neighborhood before it.
class CellOrder {
 public:
  CellOrder(Neighborhood accesses, std::uint64_t max_runs, EdgeSink& edges)
      : accesses_(accesses), table_(accesses, max_runs), index_(table_.cells()), edges_(edges) {}

  bool Run(std::uint32_t& task) {
    for (std::size_t first = 0, last = 0; first < accesses_.size(); first = last) {
      task = accesses_[first]->task;
      while (last < accesses_.size() && accesses_[last]->task == task) ++last;
      if (!OrderTask(first, last)) return false;
    }
    return true;
  }

 private:
  bool OrderTask(std::size_t first, std::size_t last) {
    index_.StartSearch();
    ForEachRange(first, last, [&](CellRange cells, ops::Access kind) { index_.Seek(cells, kind); });
    const auto rank = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back(accesses_[first]->task);
    if (!TakeResults()) return false;
    ForEachRange(first, last, [&](CellRange cells, ops::Access kind) {
      index_.Add(cells, kind, rank, settled_.back());
    });
    return true;
  }

  // Results come in descending order of rank, so that all behind one that is settled are settled.
  bool TakeResults() {
    std::uint32_t settled = 0;
    waited_for_.clear();
    for (;;) {
      const std::uint32_t rank = index_.Next();
      if (rank == AccessIndex::kNone || rank < settled) break;
      if (!edges_.Add(tasks_[rank], tasks_.back())) return false;
      settled = std::max(settled, settled_[rank]);
      waited_for_.push_back(rank);
    }
    for (; !waited_for_.empty() && waited_for_.back() == settled; ++settled) waited_for_.pop_back();
    settled_.push_back(settled);
    return true;
  }

  template <typename Function>
  void ForEachRange(std::size_t first, std::size_t last, const Function& function) {
    for (std::size_t i = first; i < last; ++i) {
      for (const CellRange& cells : table_.ranges(i)) function(cells, accesses_[i]->kind);
    }
  }

  const Neighborhood accesses_;
  const CellTable table_;
  AccessIndex index_;
  EdgeSink& edges_;
  std::vector<std::uint32_t> tasks_;    // By rank.
  std::vector<std::uint32_t> settled_;  // By rank: all below it are done before the task starts.
  std::vector<std::uint32_t> waited_for_;
};

}  // namespace

bool OrderByCells(Neighborhood accesses, std::uint64_t max_runs, EdgeSink& edges,
                  std::uint32_t& task) {
  return CellOrder(accesses, max_runs, edges).Run(task);
}

}  // namespace gpuos::program
