#include "client/cli/devices_command.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/table.h"
#include "client/cli/units.h"

namespace gpuos::cli {
namespace {

std::string Executor(const v1::DeviceStatus& device) {
  return device.executor_pid() == 0 ? "-" : absl::StrCat("pid ", device.executor_pid());
}

std::string Arena(const v1::ExecutorCounters& counters) {
  return absl::StrCat(Bytes(counters.arena_bytes_used()), " of ",
                      Bytes(counters.arena_bytes_total()));
}

std::vector<std::string> Row(const v1::DeviceStatus& device) {
  const v1::ExecutorCounters& counters = device.counters();
  return {device.device().name(),
          OrDash(device.device().model()),
          Bytes(device.device().memory_bytes()),
          Name(device.state()),
          Executor(device),
          OrDash(device.sharing()),
          Count(counters.segments()),
          Bytes(counters.segment_bytes()),
          Count(counters.programs()),
          Arena(counters),
          OrDash(device.device().uuid())};
}

}  // namespace

void AddDevicesCommand(CLI::App& parent, CommandLine& line) {
  parent.add_subcommand("devices", "What each device is, and what it holds")->callback([&line] {
    line.run = [&line](Admin& admin) { return Print(line, admin.ListDevices(), &FormatDevices); };
  });
}

std::string FormatDevices(const v1::ListDevicesResponse& devices) {
  Table table({{"DEVICE"},
               {"MODEL"},
               {"MEMORY", true},
               {"STATE"},
               {"EXECUTOR"},
               {"SHARING"},
               {"SEGMENTS", true},
               {"SHARED", true},
               {"PROGRAMS", true},
               {"ARENA", true},
               {"UUID"}});
  std::string remarks;
  for (const v1::DeviceStatus& device : devices.devices()) {
    table.AddRow(Row(device));
    remarks += Remarks(device);
  }
  return absl::StrCat(table.ToString(), remarks.empty() ? "" : "\n", remarks);
}

}  // namespace gpuos::cli
