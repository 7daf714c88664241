// Flags of gpuosd.
#ifndef GPUOS_DAEMON_CONTROL_FLAGS_H_
#define GPUOS_DAEMON_CONTROL_FLAGS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpuos/v1/admin.pb.h"

namespace gpuos::control {

struct Flags {
  std::string socket = "/run/gpuosd/gpuosd.sock";
  mode_t socket_mode = 0660;
  std::string device = "auto";
  v1::Residence residence = v1::RESIDENCE_ELASTIC;
  std::string executor;  // Empty on the command line: gpuos-executor beside this binary.
  std::vector<std::string> executor_arguments;
  int parent_fd = -1;
  std::string log_level = "info";
};

struct CommandLine {
  Flags flags;
  std::string text;  // Not empty for --help and --version: print it, do nothing else.
};

// What the command line says. INVALID_ARGUMENT names the flag and what it may be.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_FLAGS_H_
