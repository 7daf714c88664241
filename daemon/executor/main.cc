// gpuos-executor: flags, wiring, signals.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/device/device.h"
#include "daemon/executor/core.h"
#include "daemon/executor/exit_codes.h"
#include "daemon/executor/flags.h"
#include "daemon/executor/open_device.h"
#include "daemon/executor/request_handler.h"
#include "daemon/executor/server.h"
#include "daemon/link/framing.h"
#include "daemon/link/unique_fd.h"
#include "kernels/ops/signature.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace gpuos::executor {
namespace {

// Signals to end are for gpuosd, which then ends the link; a terminal sends them to both at once.
void LeaveSignalsToGpuosd() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
}

void LogToStderr(const Flags& flags) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("executor"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%f %^%l%$ executor " + flags.device + " %v");
  spdlog::set_level(spdlog::level::from_str(flags.log_level));
}

int PrintDevices(const Flags& flags) {
  const auto devices = ListDevices(flags);
  if (!devices.ok()) {
    std::cerr << "gpuos-executor: " << devices.status().message() << "\n";
    return kExitFailed;
  }
  for (const device::Info& info : *devices) std::cout << ToJson(info) << "\n";
  return kExitOk;
}

CoreOptions ToCoreOptions(const Flags& flags) {
  CoreOptions options;
  options.residence.linger = std::chrono::microseconds(flags.linger_us);
  options.residence.synchronous_launch = flags.synchronous_launch;
  options.watchdog_limit = std::chrono::milliseconds(flags.watchdog_ms);
  options.memory.program_bytes = std::uint64_t{flags.program_mib} << 20;
  return options;
}

int Refuse(link::Channel& link, const absl::Status& why) {
  spdlog::error("cannot serve: {}", std::string(why.message()));
  // gpuosd shows the sentence; if it is gone nobody needs it.
  link.Send(RequestHandler::MakeGoodbye(why)).IgnoreError();
  return kExitFailed;
}

int Serve(const Flags& flags, link::UniqueFd socket) {
  link::Channel link(std::move(socket));
  absl::StatusOr<std::unique_ptr<device::Device>> device = OpenDevice(flags);
  if (!device.ok()) return Refuse(link, device.status());
  absl::StatusOr<std::unique_ptr<Core>> core =
      Core::Create(**device, ops::Builtins(), ToCoreOptions(flags));
  if (!core.ok()) return Refuse(link, core.status());
  const device::Info& info = (*device)->info();
  spdlog::info("serving {} ({}), {}", info.model, info.sharing, info.remark);
  const absl::Status ended = Server(**core, link, (*device)->completion_descriptor()).Run();
  if (!ended.ok() && !absl::IsDataLoss(ended)) {
    // The worker may hang in the device: destructors would wait for it.
    _exit(kExitDeviceLost);
  }
  return ended.ok() ? kExitOk : kExitFailed;
}

int Main(int argc, char** argv) {
  const absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) {
    std::cerr << "gpuos-executor: " << line.status().message() << "\n";
    return kExitUsage;
  }
  if (!line->help.empty()) {
    std::cout << line->help;
    return kExitOk;
  }
  const Flags& flags = line->flags;
  if (flags.list_devices) return PrintDevices(flags);
  LeaveSignalsToGpuosd();
  LogToStderr(flags);
  if (fcntl(flags.link_fd, F_SETFD, FD_CLOEXEC) != 0) {
    spdlog::error("--link-fd is {}, which is not an open descriptor", flags.link_fd);
    return kExitUsage;
  }
  // The loop's pauses are tens of microseconds; the kernel's usual slack is 50.
  prctl(PR_SET_TIMERSLACK, 1000);
  return Serve(flags, link::UniqueFd(flags.link_fd));
}

}  // namespace
}  // namespace gpuos::executor

int main(int argc, char** argv) { return gpuos::executor::Main(argc, argv); }
