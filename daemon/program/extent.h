// Which bytes of its slot a view touches, in a form that can be compared.
#ifndef GPUOS_DAEMON_PROGRAM_EXTENT_H_
#define GPUOS_DAEMON_PROGRAM_EXTENT_H_

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "kernels/abi/limits.h"
#include "kernels/abi/program.h"

namespace gpuos::program {

// Bytes [begin, end) of a slot; empty if they are equal.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

// A set of bytes: `run` bytes from `begin`, repeated by each of the loops. Views that touch the
// same bytes in another order of dimensions, or through broadcasting, have the same footprint in
// nearly all cases, and dense views have no loops. A value type.
struct Footprint {
  struct Loop {
    std::uint64_t pitch = 0;  // Bytes from one turn to the next, more than 0.
    std::uint64_t count = 0;  // Turns, more than 1.

    friend auto operator<=>(const Loop&, const Loop&) = default;
  };

  std::uint64_t begin = 0;
  std::uint64_t run = 0;  // 0: no bytes at all.
  std::uint32_t loop_count = 0;
  std::array<Loop, abi::kMaxDims> loops{};  // By ascending pitch.

  friend auto operator<=>(const Footprint&, const Footprint&) = default;

  bool empty() const { return run == 0; }
  // One run without gaps.
  bool dense() const { return loop_count == 0; }
  // From the first byte to the last.
  ByteRange range() const;
  // Runs that AppendRuns would append; the largest std::uint64_t if they are more.
  std::uint64_t runs() const;
};

// `view` as CheckView or PlanTask made it: inside its slot, so nothing here overflows.
Footprint FootprintOf(const abi::View& view);

// The least of `footprint`'s supersets of at most `max_runs` (1 or more) runs that this function
// knows: gaps are filled from the narrowest loop outwards.
Footprint Blur(const Footprint& footprint, std::uint64_t max_runs);

// Appends the runs of `footprint`; they may overlap and are not in order. The caller keeps runs()
// within what it can hold.
void AppendRuns(const Footprint& footprint, std::vector<ByteRange>& runs);

// Whether two sets of bytes of one slot may have a byte in common. False is a proof that they have
// not. True is exact for dense sets and wherever a search of kOverlapSteps steps ends, which is so
// for rows, columns, blocks and other slices of common tensors; else it is a precaution.
bool MayOverlap(const Footprint& a, const Footprint& b);
inline constexpr int kOverlapSteps = 64;

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_EXTENT_H_
