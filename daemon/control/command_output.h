// Running a program to its end for what it prints.
#ifndef GPUOS_DAEMON_CONTROL_COMMAND_OUTPUT_H_
#define GPUOS_DAEMON_CONTROL_COMMAND_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gpuos::control {

// Runs `program` and returns its standard output, at most 1 MiB; its standard error is ours. Blocks
// until it ends; DEADLINE_EXCEEDED after `timeout`, when it is killed. INTERNAL if it fails, with
// how it ended; the reason of Spawn if it does not start.
absl::StatusOr<std::string> CommandOutput(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          absl::Duration timeout);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_COMMAND_OUTPUT_H_
