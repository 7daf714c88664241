// gpuosctl status: the daemon and what its devices are doing.
#ifndef GPUOS_CLIENT_CLI_STATUS_COMMAND_H_
#define GPUOS_CLIENT_CLI_STATUS_COMMAND_H_

#include <string>

#include "client/cli/command_line.h"
#include "gpuos/v1/admin.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gpuos::cli {

// Adds the command to `parent`; both must live until the line is parsed and run.
void AddStatusCommand(CLI::App& parent, CommandLine& line);

// For people. Pure.
std::string FormatStatus(const v1::GetStatusResponse& status);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_STATUS_COMMAND_H_
