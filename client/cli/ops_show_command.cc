#include "client/cli/ops_show_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/table.h"
#include "client/cli/units.h"

namespace gpuos::cli {
namespace {

std::string Dtypes(const v1::OperandSignature& operand) {
  return absl::StrJoin(operand.dtypes(), ", ", [](std::string* out, int dtype) {
    out->append(Name(static_cast<v1::DType>(dtype)));
  });
}

std::string Operands(const v1::OperatorInfo& info) {
  Table table({{"OPERAND"}, {"DIRECTION"}, {"DTYPES"}});
  for (const v1::OperandSignature& operand : info.operands()) {
    table.AddRow({operand.name(), operand.output() ? "output" : "input", Dtypes(operand)});
  }
  return table.ToString();
}

std::vector<std::string> Row(const v1::AttributeSignature& attribute) {
  const v1::Scalar& value = attribute.default_value();
  switch (value.kind_case()) {
    case v1::Scalar::kI:
      return {attribute.name(), "integer", absl::StrCat(value.i())};
    case v1::Scalar::kF:
      return {attribute.name(), "floating", absl::StrCat(value.f())};
    case v1::Scalar::kB:
      return {attribute.name(), "bool", value.b() ? "true" : "false"};
    case v1::Scalar::KIND_NOT_SET:
      break;
  }
  return {attribute.name(), "-", "-"};
}

std::string Attributes(const v1::OperatorInfo& info) {
  if (info.attributes().empty()) return "no attributes\n";
  Table table({{"ATTRIBUTE"}, {"TYPE"}, {"DEFAULT"}});
  for (const v1::AttributeSignature& attribute : info.attributes()) table.AddRow(Row(attribute));
  return table.ToString();
}

}  // namespace

void AddOpsShowCommand(CLI::App& parent, CommandLine& line) {
  auto name = std::make_shared<std::string>();
  CLI::App* const command = parent.add_subcommand("show", "How one operator is called");
  command->add_option("NAME", *name, "The operator, such as softmax")->required();
  command->callback([&line, name] {
    line.run = [&line, name](Admin& admin) {
      return Print(line, admin.GetOperator(*name), &FormatOpsShow);
    };
  });
}

std::string FormatOpsShow(const v1::OperatorInfo& info) {
  return absl::StrCat(info.name(), ", version ", info.version(), ", ", Name(info.state()),
                      info.builtin() ? ", built in" : "", ", ", Count(info.calls()), " calls\n",
                      info.summary(), "\nShape: ", OrDash(info.shape_rule()), "\n\n",
                      Operands(info), "\n", Attributes(info));
}

}  // namespace gpuos::cli
