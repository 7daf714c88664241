// What the commands of gpuosctl share.
#ifndef GPUOS_CLIENT_CLI_COMMAND_LINE_H_
#define GPUOS_CLIENT_CLI_COMMAND_LINE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "client/internal/json.h"
#include "gpuos/admin.h"

namespace gpuos::cli {

// What was asked for on the command line. Filled while it is parsed; one thread.
struct CommandLine {
  std::string target;
  bool json = false;
  // What the command that was named does: asks, and returns the text to print.
  std::function<absl::StatusOr<std::string>(Admin&)> run;
};

// An answer as JSON if that was asked for, else as `format` writes it for people.
template <typename Message>
absl::StatusOr<std::string> Print(const CommandLine& line, const absl::StatusOr<Message>& answer,
                                  std::string (*format)(const Message&)) {
  if (!answer.ok()) return answer.status();
  return line.json ? internal::ToJson(*answer, 2) + "\n" : format(*answer);
}

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_COMMAND_LINE_H_
