// Two ways to order the tasks of one neighborhood: accesses of one slot that hang together.
#ifndef GPUOS_DAEMON_PROGRAM_NEIGHBORHOOD_ORDER_H_
#define GPUOS_DAEMON_PROGRAM_NEIGHBORHOOD_ORDER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "daemon/program/access.h"
#include "daemon/program/edge_sink.h"

namespace gpuos::program {

// Accesses of one neighborhood in the order of their tasks. None is empty. Points into the
// caller's.
using Neighborhood = absl::Span<const Access* const>;

// Compares every pair that is not ordered yet: exact as far as MayOverlap is, and no edge is one
// that others imply. For at most kMaxPairwise accesses; quadratic in them. False if the sink is
// full; the task that was being ordered is then left in `task`.
bool OrderByPairs(Neighborhood accesses, EdgeSink& edges, std::uint32_t& task);
inline constexpr std::size_t kMaxPairwise = 512;

// Cuts the slot where any run of any access begins or ends and keeps for each stretch who touched
// it (see AccessIndex). Accesses of more than `max_runs` runs are blurred to that many. False as
// above.
bool OrderByCells(Neighborhood accesses, std::uint64_t max_runs, EdgeSink& edges,
                  std::uint32_t& task);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_NEIGHBORHOOD_ORDER_H_
