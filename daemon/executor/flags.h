// Flags of gpuos-executor.
#ifndef GPUOS_DAEMON_EXECUTOR_FLAGS_H_
#define GPUOS_DAEMON_EXECUTOR_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace gpuos::executor {

struct Flags {
  bool list_devices = false;
  std::string device;  // "host:0" or "cuda:N".
  int link_fd = -1;
  std::uint32_t host_threads = 0;  // 0: one a core, at least 2.
  std::uint32_t host_blocks = 0;   // 0: two more than threads.
  std::uint64_t seed = 1;
  std::uint32_t linger_us = 50;
  bool synchronous_launch = false;
  std::uint32_t watchdog_ms = 10000;
  std::uint32_t program_mib = 192;
  std::string cuda_driver;  // Path of the driver library; empty: the system's.
  std::string log_level = "info";
};

struct CommandLine {
  Flags flags;
  std::string help;  // Not empty if --help was given: print it, do nothing else.
};

// What the command line says. INVALID_ARGUMENT names the flag and what it may be. Pure.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_FLAGS_H_
