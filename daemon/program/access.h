// What one operand of a task does to its slot.
#ifndef GPUOS_DAEMON_PROGRAM_ACCESS_H_
#define GPUOS_DAEMON_PROGRAM_ACCESS_H_

#include <cstdint>

#include "daemon/program/extent.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

struct Access {
  std::uint32_t task = 0;
  std::uint32_t slot = 0;
  ops::Access kind = ops::Access::kRead;
  Footprint footprint;
};

// Whether two tasks that touch one byte in these ways must run in order. Reads do not disturb
// reads, nor atomic accesses each other.
constexpr bool Conflict(ops::Access a, ops::Access b) { return a != b || a == ops::Access::kWrite; }

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_ACCESS_H_
