// gpuosctl devices: what each device is and what it holds.
#ifndef GPUOS_CLIENT_CLI_DEVICES_COMMAND_H_
#define GPUOS_CLIENT_CLI_DEVICES_COMMAND_H_

#include <string>

#include "client/cli/command_line.h"
#include "gpuos/v1/admin.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gpuos::cli {

// Adds the command to `parent`; both must live until the line is parsed and run.
void AddDevicesCommand(CLI::App& parent, CommandLine& line);

// For people. Pure.
std::string FormatDevices(const v1::ListDevicesResponse& devices);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_DEVICES_COMMAND_H_
