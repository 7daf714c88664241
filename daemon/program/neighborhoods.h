// Which views of a slot could ever matter to each other.
#ifndef GPUOS_DAEMON_PROGRAM_NEIGHBORHOODS_H_
#define GPUOS_DAEMON_PROGRAM_NEIGHBORHOODS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "daemon/program/extent.h"

namespace gpuos::program {

// Sets of bytes of one slot, split so that those of different neighborhoods have no byte in common.
struct Neighborhoods {
  // Of each footprint, counted from 0; empty footprints have a number too, of no meaning.
  std::vector<std::uint32_t> of;
  std::uint32_t count = 0;
};

// Splits `footprints` as finely as comparing pairs can tell: the columns of a matrix are
// neighborhoods of their own unless something covers two of them. Takes from `comparisons` what it
// needs; once they are used up, sets whose ranges cross are taken together, so that the time is
// bounded for any input. O(n log n) besides the comparisons.
Neighborhoods SplitByOverlap(absl::Span<const Footprint> footprints, std::uint32_t& comparisons);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_NEIGHBORHOODS_H_
