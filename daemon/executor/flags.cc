#include "daemon/executor/flags.h"

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::executor {
namespace {

void AddOptions(CLI::App& app, Flags& flags) {
  app.add_flag("--list-devices", flags.list_devices,
               "Print the devices of this machine, one JSON object a line, and end");
  app.add_option("--device", flags.device, "host:0, or cuda:N by the driver's order");
  app.add_option("--link-fd", flags.link_fd,
                 "Descriptor of the socket pair to gpuosd; the executor ends when it closes");
  app.add_option("--host-threads", flags.host_threads,
                 "Threads of the host device; 0: one for each core, at least 2");
  app.add_option("--host-blocks", flags.host_blocks,
                 "Worker blocks of the host device; 0: two more than threads");
  app.add_option("--seed", flags.seed, "Of the order in which the host device steps its blocks");
  app.add_option("--linger-us", flags.linger_us,
                 "In elastic residence, microseconds that the worker stays for the next batch");
  app.add_flag("--synchronous-launch", flags.synchronous_launch,
               "For tools that make launches block: one launch for each batch");
  app.add_option("--watchdog-ms", flags.watchdog_ms,
                 "Milliseconds without progress after which a running worker counts as hung")
      ->check(CLI::Range(100u, 86'400'000u));
  app.add_option("--program-mib", flags.program_mib, "Device memory for clients' programs, MiB")
      ->check(CLI::Range(1u, 65536u));
  app.add_option("--cuda-driver", flags.cuda_driver, "Driver library; empty: the system's");
  app.add_option("--log-level", flags.log_level, "What is logged at least")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
}

absl::Status CheckTogether(const Flags& flags) {
  if (flags.list_devices) return absl::OkStatus();
  if (flags.device.empty()) {
    return absl::InvalidArgumentError("--device is missing; give host:0 or cuda:N");
  }
  if (flags.link_fd < 0) {
    return absl::InvalidArgumentError(
        "--link-fd is missing; gpuosd starts the executor and gives it a socket");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app{"Owns one device and runs batches on it; started by gpuosd", "gpuos-executor"};
  // What gpuosd is told to pass on comes last and outweighs what it passes of its own.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddOptions(app, line.flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.help = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), "; see --help"));
  }
  if (absl::Status together = CheckTogether(line.flags); !together.ok()) return together;
  return line;
}

}  // namespace gpuos::executor
