#include "daemon/program/neighborhoods.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gpuos::program {
namespace {

// Disjoint sets of numbers, united two by two.
class UnionFind {
 public:
  explicit UnionFind(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  std::uint32_t Find(std::uint32_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }
  void Unite(std::uint32_t a, std::uint32_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

// Footprints in ascending order, equal ones once, and of each input the number of its equal.
struct Distinct {
  std::vector<Footprint> footprints;
  std::vector<std::uint32_t> number_of;
};

Distinct MakeDistinct(absl::Span<const Footprint> footprints) {
  std::vector<std::uint32_t> order(footprints.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return footprints[a] < footprints[b]; });
  Distinct distinct;
  distinct.number_of.resize(footprints.size());
  for (const std::uint32_t i : order) {
    if (distinct.footprints.empty() || distinct.footprints.back() != footprints[i]) {
      distinct.footprints.push_back(footprints[i]);
    }
    distinct.number_of[i] = static_cast<std::uint32_t>(distinct.footprints.size() - 1);
  }
  return distinct;
}

// Unites what overlaps among footprints [first, last), whose ranges hang together. Ascending
// begins.
void UniteCluster(const std::vector<Footprint>& footprints, std::uint32_t first, std::uint32_t last,
                  std::uint32_t& comparisons, UnionFind& sets) {
  const auto begin = footprints.begin();
  const bool all_dense = std::all_of(begin + first, begin + last,
                                     [](const Footprint& footprint) { return footprint.dense(); });
  for (std::uint32_t i = first; i < last && !all_dense; ++i) {
    const std::uint64_t end = footprints[i].range().end;
    for (std::uint32_t k = i + 1; k < last && footprints[k].begin < end; ++k) {
      if (comparisons == 0) break;
      --comparisons;
      if (sets.Find(i) != sets.Find(k) && MayOverlap(footprints[i], footprints[k])) {
        sets.Unite(i, k);
      }
    }
  }
  if (!all_dense && comparisons > 0) return;
  for (std::uint32_t i = first + 1; i < last; ++i) sets.Unite(i, first);
}

}  // namespace

Neighborhoods SplitByOverlap(absl::Span<const Footprint> footprints, std::uint32_t& comparisons) {
  const Distinct distinct = MakeDistinct(footprints);
  const auto count = static_cast<std::uint32_t>(distinct.footprints.size());
  UnionFind sets(count);
  for (std::uint32_t first = 0; first < count;) {
    std::uint64_t end = distinct.footprints[first].range().end;
    std::uint32_t last = first + 1;
    while (last < count && distinct.footprints[last].begin < end) {
      end = std::max(end, distinct.footprints[last++].range().end);
    }
    UniteCluster(distinct.footprints, first, last, comparisons, sets);
    first = last;
  }
  // Roots get numbers in the order of their first member, so that the result depends on the input
  // alone.
  constexpr std::uint32_t kNone = ~0u;
  std::vector<std::uint32_t> number_of_root(count, kNone);
  Neighborhoods result;
  result.of.reserve(footprints.size());
  for (const std::uint32_t number : distinct.number_of) {
    std::uint32_t& root = number_of_root[sets.Find(number)];
    if (root == kNone) root = result.count++;
    result.of.push_back(root);
  }
  return result;
}

}  // namespace gpuos::program
