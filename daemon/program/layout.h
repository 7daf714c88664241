// The parts of a program put together as kernels/abi/program.h says.
#ifndef GPUOS_DAEMON_PROGRAM_LAYOUT_H_
#define GPUOS_DAEMON_PROGRAM_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "daemon/program/task_graph.h"
#include "daemon/program/width.h"
#include "kernels/abi/program.h"

namespace gpuos::program {

// The bytes of a program. Writes what the graph says into `tasks` on the way. `graph` is over them.
std::vector<std::byte> LayOut(std::vector<abi::Task> tasks, absl::Span<const abi::View> views,
                              const TaskGraph& graph, std::uint32_t slots, const Width& width);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_LAYOUT_H_
