#include "client/cli/clients_command.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/table.h"
#include "client/cli/units.h"

namespace gpuos::cli {

void AddClientsCommand(CLI::App& parent, CommandLine& line) {
  parent.add_subcommand("clients", "The open sessions")->callback([&line] {
    line.run = [&line](Admin& admin) { return Print(line, admin.ListClients(), &FormatClients); };
  });
}

std::string FormatClients(const v1::ListClientsResponse& clients) {
  if (clients.clients().empty()) return "no open sessions\n";
  Table table({{"SESSION", true},
               {"CLIENT"},
               {"PID", true},
               {"UID", true},
               {"DEVICE"},
               {"SEGMENTS", true},
               {"SHARED", true},
               {"PROGRAMS", true},
               {"SUBMITTED", true},
               {"COMPLETED", true},
               {"AGE", true}});
  for (const v1::ClientInfo& client : clients.clients()) {
    table.AddRow({absl::StrCat(client.session()), OrDash(client.client_name()),
                  absl::StrCat(client.pid()), absl::StrCat(client.uid()), client.device(),
                  Count(client.segments()), Bytes(client.segment_bytes()), Count(client.programs()),
                  Count(client.batches_submitted()), Count(client.batches_completed()),
                  Duration(client.age_seconds())});
  }
  return table.ToString();
}

}  // namespace gpuos::cli
