// gpuosctl ops list: the operators there are.
#ifndef GPUOS_CLIENT_CLI_OPS_LIST_COMMAND_H_
#define GPUOS_CLIENT_CLI_OPS_LIST_COMMAND_H_

#include <string>

#include "client/cli/command_line.h"
#include "gpuos/v1/operators.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gpuos::cli {

// Adds the command to `parent`; both must live until the line is parsed and run.
void AddOpsListCommand(CLI::App& parent, CommandLine& line);

// For people. Pure.
std::string FormatOpsList(const v1::ListOperatorsResponse& operators);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_OPS_LIST_COMMAND_H_
