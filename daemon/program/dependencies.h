// Which task of a program waits for which, from its operands and from `after`.
#ifndef GPUOS_DAEMON_PROGRAM_DEPENDENCIES_H_
#define GPUOS_DAEMON_PROGRAM_DEPENDENCIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "daemon/program/access.h"
#include "daemon/program/task_graph.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::program {

// The dependencies of `program`. `accesses` are those of its operands, in the order of the tasks.
// INVALID_ARGUMENT if an `after` names no task, if tasks wait for each other (the sentence lists
// those of one circle), or if there are more than kMaxEdges dependencies. Bounds of time:
// operand_order.h.
absl::StatusOr<TaskGraph> BuildDependencies(const v1::Program& program,
                                            std::vector<Access> accesses);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_DEPENDENCIES_H_
