// The order that a program's operands demand.
#ifndef GPUOS_DAEMON_PROGRAM_OPERAND_ORDER_H_
#define GPUOS_DAEMON_PROGRAM_OPERAND_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "daemon/program/access.h"
#include "daemon/program/task_graph.h"

namespace gpuos::program {

// Dependencies that a program may need at most, before those are taken out that come twice.
inline constexpr std::uint32_t kMaxEdges = 1u << 23;

// Appends edges, each from an earlier task to a later one, such that any two tasks that touch the
// same byte of a slot, other than both reading or both by atomic operations, are ordered by them,
// directly or through others. `accesses` are in the order of their tasks.
//
// Tasks that share no byte are ordered only where telling so would take too long: exact are dense
// views, neighborhoods of few tasks (pairs are compared), and strided views while their runs are
// few for the length of the program (see operand_order.cc); beyond that, gaps between runs count as
// touched. Most edges that others imply are left out.
//
// Time: O(n log n) for n accesses plus O(log n) an edge. Worst case: k tasks that read all of what
// k others write piece by piece need k * k edges. INVALID_ARGUMENT, with a sentence that names a
// task, once there are more than kMaxEdges; `edges` then holds some of them.
absl::Status AppendOperandEdges(std::vector<Access> accesses, std::vector<Edge>& edges);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_OPERAND_ORDER_H_
