#include "daemon/program/extent.h"

#include <algorithm>
#include <limits>

#include "kernels/abi/dtype.h"

namespace gpuos::program {
namespace {

// Distances between bytes of one slot, of either sign.
using Distance = __int128;

std::uint64_t Reach(const Footprint::Loop& loop) { return (loop.count - 1) * loop.pitch; }

// Adds a loop whose pitch is at least that of all loops so far, merged with what it continues.
void AddLoop(Footprint& footprint, const Footprint::Loop& loop) {
  if (footprint.dense() && loop.pitch <= footprint.run) {
    footprint.run += Reach(loop);  // Each turn starts inside or right behind the one before.
    return;
  }
  if (!footprint.dense()) {
    Footprint::Loop& last = footprint.loops[footprint.loop_count - 1];
    const std::uint64_t turns = loop.pitch / last.pitch;
    if (loop.pitch % last.pitch == 0 && turns <= last.count) {
      last.count += turns * (loop.count - 1);
      return;
    }
  }
  footprint.loops[footprint.loop_count++] = loop;
}

// Whether two footprints overlap, as a search over how many turns apart two runs are, the widest
// pitch first: what the narrower loops can still make up leaves few values to try for each.
class OverlapSearch {
 public:
  OverlapSearch(const Footprint& a, const Footprint& b) {
    // Turns of `a` move its runs up, towards those of `b`; turns of `b` move them apart.
    for (std::uint32_t i = 0; i < a.loop_count; ++i) Add(a.loops[i], Distance{1});
    for (std::uint32_t i = 0; i < b.loop_count; ++i) Add(b.loops[i], Distance{-1});
    std::sort(steps_.begin(), steps_.begin() + count_,
              [](const Step& x, const Step& y) { return x.pitch > y.pitch; });
    for (std::size_t i = count_; i-- > 0;) {
      steps_[i].rest_low = i + 1 == count_ ? 0 : SumLow(steps_[i + 1]);
      steps_[i].rest_high = i + 1 == count_ ? 0 : SumHigh(steps_[i + 1]);
    }
  }

  // Whether the loops can add up to a distance in [low, high]; true also when it takes too long.
  bool CanReach(Distance low, Distance high) {
    Distance divisor = 0;
    for (std::size_t i = 0; i < count_; ++i) divisor = Gcd(divisor, steps_[i].pitch);
    if (divisor != 0 && FloorDiv(high, divisor) * divisor < low) return false;
    return Visit(0, low, high);
  }

 private:
  struct Step {
    Distance pitch;
    Distance low, high;            // Turns.
    Distance rest_low, rest_high;  // What the steps behind this one can add up to.
  };

  static Distance SumLow(const Step& s) { return s.pitch * s.low + s.rest_low; }
  static Distance SumHigh(const Step& s) { return s.pitch * s.high + s.rest_high; }
  static Distance Gcd(Distance a, Distance b) { return b == 0 ? a : Gcd(b, a % b); }
  static Distance FloorDiv(Distance a, Distance b) { return a / b - (a % b < 0 ? 1 : 0); }

  void Add(const Footprint::Loop& loop, Distance sign) {
    const Distance turns = sign * Distance{loop.count - 1};
    for (std::size_t i = 0; i < count_; ++i) {
      if (steps_[i].pitch != Distance{loop.pitch}) continue;
      (turns < 0 ? steps_[i].low : steps_[i].high) += turns;
      return;
    }
    steps_[count_++] = Step{Distance{loop.pitch}, std::min(turns, Distance{0}),
                            std::max(turns, Distance{0}), 0, 0};
  }

  bool Visit(std::size_t i, Distance low, Distance high) {
    if (++visited_ > kOverlapSteps) return true;
    if (i == count_) return low <= 0 && 0 <= high;
    const Step& s = steps_[i];
    const Distance first = std::max(s.low, -FloorDiv(s.rest_high - low, s.pitch));
    const Distance last = std::min(s.high, FloorDiv(high - s.rest_low, s.pitch));
    for (Distance turns = first; turns <= last; ++turns) {
      if (Visit(i + 1, low - turns * s.pitch, high - turns * s.pitch)) return true;
    }
    return false;
  }

  std::array<Step, 2 * abi::kMaxDims> steps_;
  std::size_t count_ = 0;
  int visited_ = 0;
};

}  // namespace

ByteRange Footprint::range() const {
  std::uint64_t end = begin + run;
  for (std::uint32_t i = 0; i < loop_count; ++i) end += Reach(loops[i]);
  return {begin, end};
}

std::uint64_t Footprint::runs() const {
  std::uint64_t product = empty() ? 0 : 1;
  for (std::uint32_t i = 0; i < loop_count; ++i) {
    if (__builtin_mul_overflow(product, loops[i].count, &product)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return product;
}

Footprint FootprintOf(const abi::View& view) {
  Footprint footprint;
  footprint.begin = view.offset;
  if (view.elements == 0) return footprint;
  const std::uint64_t element = abi::SizeOf(view.dtype);
  footprint.run = element;
  std::array<Footprint::Loop, abi::kMaxDims> loops;
  std::uint32_t count = 0;
  for (std::uint32_t d = 0; d < view.dims; ++d) {
    if (view.sizes[d] == 1 || view.strides[d] == 0) continue;
    const Footprint::Loop loop{static_cast<std::uint64_t>(view.strides[d]) * element,
                               static_cast<std::uint64_t>(view.sizes[d])};
    std::uint32_t place = count++;
    for (; place > 0 && loop < loops[place - 1]; --place) loops[place] = loops[place - 1];
    loops[place] = loop;
  }
  for (std::uint32_t i = 0; i < count; ++i) AddLoop(footprint, loops[i]);
  return footprint;
}

Footprint Blur(const Footprint& footprint, std::uint64_t max_runs) {
  Footprint blurred = footprint;
  while (blurred.runs() > max_runs) {
    const Footprint wide = blurred;
    blurred = Footprint{.begin = wide.begin, .run = wide.run + Reach(wide.loops[0])};
    for (std::uint32_t i = 1; i < wide.loop_count; ++i) AddLoop(blurred, wide.loops[i]);
  }
  return blurred;
}

void AppendRuns(const Footprint& footprint, std::vector<ByteRange>& runs) {
  if (footprint.empty()) return;
  const std::size_t first = runs.size();
  runs.push_back({footprint.begin, footprint.begin + footprint.run});
  for (std::uint32_t i = 0; i < footprint.loop_count; ++i) {
    const std::size_t inner = runs.size() - first;
    for (std::uint64_t turn = 1; turn < footprint.loops[i].count; ++turn) {
      const std::uint64_t shift = turn * footprint.loops[i].pitch;
      for (std::size_t k = 0; k < inner; ++k) {
        const ByteRange run = runs[first + k];
        runs.push_back({run.begin + shift, run.end + shift});
      }
    }
  }
}

bool MayOverlap(const Footprint& a, const Footprint& b) {
  if (a.empty() || b.empty()) return false;
  const ByteRange range_a = a.range();
  const ByteRange range_b = b.range();
  if (range_a.end <= range_b.begin || range_b.end <= range_a.begin) return false;
  if (a.dense() && b.dense()) return true;
  // Runs of both meet if one of a, moved by the loops, begins less than its length before or less
  // than the other's length behind one of b.
  const Distance apart = Distance{b.begin} - Distance{a.begin};
  return OverlapSearch(a, b).CanReach(apart - Distance{a.run} + 1, apart + Distance{b.run} - 1);
}

}  // namespace gpuos::program
