// gpuosctl ops show NAME: how one operator is called.
#ifndef GPUOS_CLIENT_CLI_OPS_SHOW_COMMAND_H_
#define GPUOS_CLIENT_CLI_OPS_SHOW_COMMAND_H_

#include <string>

#include "client/cli/command_line.h"
#include "gpuos/v1/operators.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gpuos::cli {

// Adds the command to `parent`; both must live until the line is parsed and run.
void AddOpsShowCommand(CLI::App& parent, CommandLine& line);

// For people. Pure.
std::string FormatOpsShow(const v1::OperatorInfo& info);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_OPS_SHOW_COMMAND_H_
