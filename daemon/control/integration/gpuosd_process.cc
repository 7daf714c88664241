#include "daemon/control/integration/gpuosd_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace gpuos::control {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);

std::string ExecutorOf(const GpuosdProcess::Options& options) {
  if (options.fake_executor) return Runfile("daemon/control/fake_executor");
  return Runfile(options.test_executor ? "daemon/executor/gpuos-executor-test"
                                       : "daemon/executor/gpuos-executor");
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentWith(const std::vector<std::string>& more) {
  std::vector<std::string> environment = more;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = "/tmp/gpuosd-test-XXXXXX";
  path_ = mkdtemp(pattern.data());
  chmod(path_.c_str(), 0755);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

NotifySocket::NotifySocket(const std::string& name)
    : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) != 0) {
    std::abort();
  }
}

bool NotifySocket::WaitFor(const std::string& line, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (absl::Now() < deadline) {
    pollfd readable = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, 100) <= 0) continue;
    std::array<char, 4096> text;
    const ssize_t size = recv(socket_.get(), text.data(), text.size(), 0);
    if (size <= 0) continue;
    for (absl::string_view part :
         absl::StrSplit(absl::string_view(text.data(), static_cast<std::size_t>(size)), '\n')) {
      if (part == line) return true;
    }
  }
  return false;
}

GpuosdProcess::GpuosdProcess(const Options& options) {
  std::vector<std::string> arguments = {Runfile("daemon/gpuosd"), "--socket=" + options.socket,
                                        "--executor=" + ExecutorOf(options), "--device=host"};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  std::vector<std::string> environment = EnvironmentWith(options.environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!options.log_file.empty()) {
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, options.log_file.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
  }
  if (posix_spawn(&pid_, arguments[0].c_str(), &files, nullptr, Pointers(arguments).data(),
                  Pointers(environment).data()) != 0) {
    std::abort();
  }
  posix_spawn_file_actions_destroy(&files);
}

GpuosdProcess::~GpuosdProcess() {
  if (exit_.has_value()) return;
  // The executors end when their links close.
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void GpuosdProcess::Signal(int signal) const { kill(pid_, signal); }

std::optional<int> GpuosdProcess::WaitForExit() {
  int status = 0;
  const auto ended = [&] { return waitpid(pid_, &status, WNOHANG) == pid_; };
  if (!exit_.has_value() && Eventually(ended, kPatience)) {
    exit_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }
  return exit_;
}

std::optional<int> GpuosdProcess::Stop() {
  Signal(SIGTERM);
  return WaitForExit();
}

std::string Runfile(const std::string& path) {
  return std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE") + "/" + path;
}

}  // namespace gpuos::control
