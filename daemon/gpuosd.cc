// gpuosd: flags, wiring, signals.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "daemon/control/command_output.h"
#include "daemon/control/daemon.h"
#include "daemon/control/device_choice.h"
#include "daemon/control/flags.h"
#include "daemon/control/log.h"
#include "daemon/control/notify.h"
#include "daemon/control/stop_signal.h"
#include "version.h"

namespace gpuos::control {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
// A CUDA driver that starts up on a machine with many GPUs takes several seconds.
constexpr absl::Duration kListTimeout = absl::Seconds(60);

// Each connection and each segment takes a descriptor.
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<DeviceChoice> FindDevices(const Flags& flags) {
  std::vector<std::string> arguments = {"--list-devices"};
  arguments.insert(arguments.end(), flags.executor_arguments.begin(),
                   flags.executor_arguments.end());
  absl::StatusOr<std::string> output = CommandOutput(flags.executor, arguments, kListTimeout);
  if (!output.ok()) return output.status();
  absl::StatusOr<FoundDevices> found = ParseDeviceList(*output);
  if (!found.ok()) return found.status();
  return ChooseDevices(flags.device, *found);
}

std::string EnvironmentOrEmpty(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Daemon::Options ToOptions(const Flags& flags, const DeviceChoice& choice) {
  Daemon::Options options;
  options.socket = flags.socket;
  options.socket_mode = flags.socket_mode;
  options.devices = choice.devices;
  options.residence = flags.residence;
  options.executor = flags.executor;
  options.executor_arguments = flags.executor_arguments;
  options.notify_socket = EnvironmentOrEmpty("NOTIFY_SOCKET");
  options.watchdog_period =
      WatchdogPeriod(std::getenv("WATCHDOG_USEC"), std::getenv("WATCHDOG_PID"), getpid())
          .value_or(absl::ZeroDuration());
  // They are for this process: an executor that notified would be taken for it.
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  return options;
}

// Stops in order; a second signal makes it hurry.
void StopInOrder(Daemon& daemon, StopSignal& signal, const std::string& why) {
  LogInfo("stopping: ", why);
  std::thread stop([&] {
    daemon.Stop();
    signal.Release();
  });
  if (signal.WaitForSignalOrRelease()) {
    LogWarning("stopping at once: a second signal came");
    daemon.Hurry();
  }
  stop.join();
  LogInfo("stopped");
}

int Fail(const absl::Status& status) {
  LogError(status.message());
  return kExitFailed;
}

int Serve(const Flags& flags) {
  // Before any thread: all of them inherit the mask.
  absl::StatusOr<std::unique_ptr<StopSignal>> signal = StopSignal::Create(flags.parent_fd);
  if (!signal.ok()) return Fail(signal.status());
  RaiseDescriptorLimit();
  absl::StatusOr<DeviceChoice> choice = FindDevices(flags);
  if (!choice.ok()) return Fail(choice.status());
  LogInfo("gpuosd ", kVersion, ": ", choice->reason, "; using ",
          absl::StrJoin(choice->devices, ", ",
                        [](std::string* out, const auto& device) { out->append(device.name()); }));
  absl::StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(ToOptions(flags, *choice));
  if (!daemon.ok()) return Fail(daemon.status());
  LogInfo("listening on ", (*daemon)->socket_path());
  StopInOrder(**daemon, **signal, (*signal)->WaitForReason());
  return kExitOk;
}

int Main(int argc, char** argv) {
  const absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) {
    std::cerr << "gpuosd: " << line.status().message() << "\n";
    return kExitUsage;
  }
  if (!line->text.empty()) {
    std::cout << line->text;
    return kExitOk;
  }
  SetUpLog(line->flags.log_level);
  std::signal(SIGPIPE, SIG_IGN);
  return Serve(line->flags);
}

}  // namespace
}  // namespace gpuos::control

int main(int argc, char** argv) { return gpuos::control::Main(argc, argv); }
