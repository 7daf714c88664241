#include "daemon/control/flags.h"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "version.h"

namespace gpuos::control {
namespace {

constexpr mode_t kModeBits = 0777;

struct Texts {
  std::string mode = "0660";
  std::string residence = "elastic";
};

void AddOptions(CLI::App& app, Flags& flags, Texts& texts) {
  // Given twice, the last counts: wrappers append to what they were given.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--socket", flags.socket,
                 "Path of the gRPC socket; the attach socket is PATH.attach")
      ->capture_default_str();
  app.add_option("--socket-mode", texts.mode, "Permissions of both sockets, octal")
      ->capture_default_str();
  app.add_option("--device", flags.device,
                 "auto (every CUDA device, else the host), host, or cuda:0[,cuda:1...]")
      ->capture_default_str();
  app.add_option("--residence", texts.residence,
                 "elastic: the worker leaves when idle; dedicated: it stays, for lowest latency")
      ->check(CLI::IsMember({"elastic", "dedicated"}))
      ->capture_default_str();
  app.add_option("--executor", flags.executor,
                 "The executor's program; default: gpuos-executor beside gpuosd");
  app.add_option("--executor-arg", flags.executor_arguments,
                 "A flag for the executor, such as --executor-arg=--host-threads=4; repeatable")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--parent-fd", flags.parent_fd,
                 "Read end of a pipe; gpuosd stops when its other end closes");
  app.add_option("--log-level", flags.log_level, "What is logged at least")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.set_version_flag("--version", absl::StrCat("gpuosd ", kVersion));
}

std::string ExecutorBesideUs() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "gpuos-executor").string();
}

absl::Status Finish(const Texts& texts, Flags& flags) {
  std::size_t read = 0;
  unsigned long mode = kModeBits + 1;
  try {
    mode = std::stoul(texts.mode, &read, 8);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read != texts.mode.size() || mode > kModeBits) {
    return absl::InvalidArgumentError(
        absl::StrCat("--socket-mode is ", texts.mode, "; it must be octal, 0 to 0777"));
  }
  flags.socket_mode = static_cast<mode_t>(mode);
  flags.residence =
      texts.residence == "dedicated" ? v1::RESIDENCE_DEDICATED : v1::RESIDENCE_ELASTIC;
  if (flags.executor.empty()) flags.executor = ExecutorBesideUs();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  Texts texts;
  CLI::App app{"Serves the devices of this machine to many processes", "gpuosd"};
  AddOptions(app, line.flags, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::CallForVersion& version) {
    line.text = absl::StrCat(version.what(), "\n");
    return line;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), "; see --help"));
  }
  if (absl::Status status = Finish(texts, line.flags); !status.ok()) return status;
  return line;
}

}  // namespace gpuos::control
