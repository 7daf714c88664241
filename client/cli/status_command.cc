#include "client/cli/status_command.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/table.h"
#include "client/cli/units.h"

namespace gpuos::cli {
namespace {

std::string Heading(const v1::GetStatusResponse& status) {
  return absl::StrCat("gpuosd ", status.version(), ", pid ", status.pid(), ", up ",
                      Duration(status.uptime_seconds()), ", at ", status.socket_path(), "\n",
                      Count(status.sessions()), status.sessions() == 1 ? " session" : " sessions",
                      ", ", Count(status.open_descriptors()), " descriptors, ",
                      Count(status.threads()), " threads\n\n");
}

std::vector<std::string> Row(const v1::DeviceStatus& device) {
  const v1::ExecutorCounters& counters = device.counters();
  return {device.device().name(),
          Name(device.state()),
          Name(device.residence()),
          counters.worker_resident() ? "resident" : "parked",
          Count(counters.worker_launches()),
          Count(counters.batches_completed()),
          Count(counters.batches_failed()),
          Count(counters.batches_in_flight()),
          Count(counters.batches_queued()),
          Count(counters.tasks_completed()),
          Count(device.executor_restarts())};
}

}  // namespace

void AddStatusCommand(CLI::App& parent, CommandLine& line) {
  parent.add_subcommand("status", "The daemon, and what its devices are doing")->callback([&line] {
    line.run = [&line](Admin& admin) { return Print(line, admin.GetStatus(), &FormatStatus); };
  });
}

std::string FormatStatus(const v1::GetStatusResponse& status) {
  Table table({{"DEVICE"},
               {"STATE"},
               {"RESIDENCE"},
               {"WORKER"},
               {"LAUNCHES", true},
               {"BATCHES", true},
               {"FAILED", true},
               {"IN FLIGHT", true},
               {"QUEUED", true},
               {"TASKS", true},
               {"RESTARTS", true}});
  std::string remarks;
  for (const v1::DeviceStatus& device : status.devices()) {
    table.AddRow(Row(device));
    remarks += Remarks(device);
  }
  return absl::StrCat(Heading(status), table.ToString(), remarks.empty() ? "" : "\n", remarks);
}

}  // namespace gpuos::cli
