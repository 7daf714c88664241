#include "client/cli/run.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/clients_command.h"
#include "client/cli/command_line.h"
#include "client/cli/devices_command.h"
#include "client/cli/ops_list_command.h"
#include "client/cli/ops_show_command.h"
#include "client/cli/status_command.h"
#include "gpuos/admin.h"
#include "version.h"

namespace gpuos::cli {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 done; 1 the daemon was not reached or said no; 2 the command line is wrong.";

void AddOptions(CLI::App& app, CommandLine& line) {
  app.add_option("--target", line.target,
                 "Where gpuosd listens: unix:///path or a path (default: $GPUOS_TARGET, else "
                 "unix:///run/gpuosd/gpuosd.sock)");
  app.add_flag("--json", line.json, "Print JSON, with the field names of proto/gpuos/v1");
  app.set_version_flag("--version", std::string("gpuosctl ") + kVersion);
  app.footer(kFooter);
  // So that --json may stand behind the command too.
  app.fallthrough();
  app.require_subcommand(1);
}

void AddCommands(CLI::App& app, CommandLine& line) {
  AddStatusCommand(app, line);
  AddDevicesCommand(app, line);
  AddClientsCommand(app, line);
  CLI::App* const ops = app.add_subcommand("ops", "Operators");
  ops->require_subcommand(1);
  AddOpsListCommand(*ops, line);
  AddOpsShowCommand(*ops, line);
}

absl::StatusOr<std::string> Execute(const CommandLine& line) {
  Admin::Options options;
  options.target = line.target;
  absl::StatusOr<std::unique_ptr<Admin>> admin = Admin::Connect(options);
  if (!admin.ok()) return admin.status();
  return line.run(**admin);
}

}  // namespace

int Run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Shows what gpuosd does.", "gpuosctl");
  CommandLine line;
  AddOptions(app, line);
  AddCommands(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? kDone : kUsage;
  }
  const absl::StatusOr<std::string> text = Execute(line);
  if (!text.ok()) {
    err << "gpuosctl: " << text.status().message() << "\n";
    return kFailed;
  }
  out << *text;
  return kDone;
}

}  // namespace gpuos::cli
