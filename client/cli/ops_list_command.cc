#include "client/cli/ops_list_command.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/table.h"
#include "client/cli/units.h"

namespace gpuos::cli {

void AddOpsListCommand(CLI::App& parent, CommandLine& line) {
  parent.add_subcommand("list", "The operators there are")->callback([&line] {
    line.run = [&line](Admin& admin) { return Print(line, admin.ListOperators(), &FormatOpsList); };
  });
}

std::string FormatOpsList(const v1::ListOperatorsResponse& operators) {
  if (operators.operators().empty()) return "no operators\n";
  Table table({{"NAME"}, {"VERSION", true}, {"STATE"}, {"CALLS", true}, {"SUMMARY"}});
  for (const v1::OperatorInfo& info : operators.operators()) {
    table.AddRow({info.name(), absl::StrCat(info.version()), Name(info.state()),
                  Count(info.calls()), info.summary()});
  }
  return table.ToString();
}

}  // namespace gpuos::cli
