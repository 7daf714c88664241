// gpuosctl clients: the open sessions.
#ifndef GPUOS_CLIENT_CLI_CLIENTS_COMMAND_H_
#define GPUOS_CLIENT_CLI_CLIENTS_COMMAND_H_

#include <string>

#include "client/cli/command_line.h"
#include "gpuos/v1/admin.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gpuos::cli {

// Adds the command to `parent`; both must live until the line is parsed and run.
void AddClientsCommand(CLI::App& parent, CommandLine& line);

// For people. Pure.
std::string FormatClients(const v1::ListClientsResponse& clients);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_CLIENTS_COMMAND_H_
