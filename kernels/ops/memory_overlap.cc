#include "kernels/ops/memory_overlap.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpuos::ops {
namespace {

// Distances in bytes. A view lies inside a slot, so it spans less than 2^64.
using Distance = __int128;

// What one index, or the difference of two, contributes to a distance: step * x, low <= x <= high.
struct Term {
  Distance step;  // Over 0.
  Distance low;
  Distance high;
};

// Steps of the search before it is given up. Views that people make (slices, columns, transposes,
// windows) need a handful for each dimension.
constexpr int kSearchSteps = 20000;

Distance FloorDivide(Distance a, Distance b) { return a / b - (a % b < 0 ? 1 : 0); }
Distance CeilDivide(Distance a, Distance b) { return -FloorDivide(-a, b); }

// Looks for values of all terms whose sum lies in a range. Goes through the terms from the greatest
// step to the smallest; what the smaller ones can reach leaves few values to try for each.
class Search {
 public:
  explicit Search(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::sort(terms_.begin(), terms_.end(),
              [](const Term& a, const Term& b) { return a.step > b.step; });
    low_.resize(terms_.size() + 1);
    high_.resize(terms_.size() + 1);
    for (std::size_t i = terms_.size(); i-- > 0;) {
      low_[i] = low_[i + 1] + terms_[i].step * terms_[i].low;
      high_[i] = high_[i + 1] + terms_[i].step * terms_[i].high;
    }
  }

  // Whether low <= sum <= high has a solution; with `nonzero`, one that is not all zeros.
  Overlap Solve(Distance low, Distance high, bool nonzero) {
    steps_ = 0;
    return Visit(0, low, high, nonzero);
  }

 private:
  Overlap Visit(std::size_t i, Distance low, Distance high, bool nonzero) {
    if (++steps_ > kSearchSteps) return Overlap::kUnknown;
    if (i == terms_.size()) {
      return low <= 0 && 0 <= high && !nonzero ? Overlap::kSome : Overlap::kNone;
    }
    const Term& term = terms_[i];
    const Distance first = std::max(term.low, CeilDivide(low - high_[i + 1], term.step));
    const Distance last = std::min(term.high, FloorDivide(high - low_[i + 1], term.step));
    for (Distance x = first; x <= last; ++x) {
      const Distance here = x * term.step;
      const Overlap found = Visit(i + 1, low - here, high - here, nonzero && x == 0);
      if (found != Overlap::kNone) return found;
    }
    return Overlap::kNone;
  }

  std::vector<Term> terms_;
  std::vector<Distance> low_;  // Least sum of terms i and after.
  std::vector<Distance> high_;
  int steps_ = 0;
};

Distance SizeOf(const abi::View& view) { return abi::SizeOf(view.dtype); }

// Adds step * (x + y) for new x in [low, high] to terms that may have the same step already.
void AddTerm(std::vector<Term>& terms, Distance step, Distance low, Distance high) {
  if (step == 0) return;
  for (Term& term : terms) {
    if (term.step != step) continue;
    term.low += low;
    term.high += high;
    return;
  }
  terms.push_back({step, low, high});
}

Distance LastByte(const abi::View& view) {
  Distance last = Distance{view.offset} + SizeOf(view) - 1;
  for (int d = 0; d < view.dims; ++d) {
    last += Distance{view.sizes[d] - 1} * view.strides[d] * SizeOf(view);
  }
  return last;
}

}  // namespace

Overlap OverlapsItself(const abi::View& view) {
  if (view.elements <= 1) return Overlap::kNone;
  std::vector<Term> terms;
  for (int d = 0; d < view.dims; ++d) {
    if (view.sizes[d] == 1) continue;
    if (view.strides[d] == 0) return Overlap::kSome;
    // The difference of two indices. Each dimension has a term of its own: with equal strides, one
    // up and one down is a collision that a common term would hide.
    const Distance reach = view.sizes[d] - 1;
    terms.push_back({view.strides[d], -reach, reach});
  }
  return Search(std::move(terms)).Solve(0, 0, /*nonzero=*/true);
}

Overlap Overlaps(const abi::View& a, const abi::View& b) {
  if (a.slot != b.slot || a.elements == 0 || b.elements == 0) return Overlap::kNone;
  if (LastByte(a) < Distance{b.offset} || LastByte(b) < Distance{a.offset}) return Overlap::kNone;
  std::vector<Term> terms;
  for (int d = 0; d < a.dims; ++d) AddTerm(terms, a.strides[d] * SizeOf(a), 0, a.sizes[d] - 1);
  for (int d = 0; d < b.dims; ++d) AddTerm(terms, b.strides[d] * SizeOf(b), 1 - b.sizes[d], 0);
  // Bytes of an element of a begin at a.offset + i and end before + SizeOf(a); likewise b and j.
  // They meet if -SizeOf(a) < a.offset - b.offset + (i - j) < SizeOf(b).
  const Distance shift = Distance{b.offset} - Distance{a.offset};
  return Search(std::move(terms))
      .Solve(shift - SizeOf(a) + 1, shift + SizeOf(b) - 1, /*nonzero=*/false);
}

bool IsSameView(const abi::View& a, const abi::View& b) {
  if (a.slot != b.slot || a.dtype != b.dtype || a.offset != b.offset || a.dims != b.dims) {
    return false;
  }
  for (int d = 0; d < a.dims; ++d) {
    if (a.sizes[d] != b.sizes[d]) return false;
    if (a.sizes[d] != 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

}  // namespace gpuos::ops
