#include "daemon/executor/executor_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "daemon/link/unique_fd.h"
#include "gtest/gtest.h"

extern char** environ;

namespace gpuos::executor {
namespace {

// Starts `binary` with `given` as its descriptor `target`.
pid_t Spawn(const std::string& binary, std::vector<std::string> flags, int given, int target) {
  flags.insert(flags.begin(), binary);
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, given, target);
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, binary.c_str(), &actions, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

int ToExit(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

}  // namespace

ExecutorProcess::ExecutorProcess(const std::string& binary, const std::vector<std::string>& flags) {
  auto pair = link::MakeSocketPair();
  EXPECT_TRUE(pair.ok()) << pair.status();
  std::vector<std::string> all = {"--device=host:0", "--link-fd=3", "--log-level=off"};
  all.insert(all.end(), flags.begin(), flags.end());
  // A descriptor that is 3 already would keep its close-on-exec.
  const int theirs = fcntl(pair->second.get(), F_DUPFD_CLOEXEC, 10);
  const link::UniqueFd closes(theirs);
  pid_ = Spawn(binary, all, theirs, 3);
  link_ = std::make_unique<link::Channel>(std::move(pair->first));
}

ExecutorProcess::~ExecutorProcess() {
  if (pid_ <= 0 || exit_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::uint64_t ExecutorProcess::Send(v1::ExecutorRequest request, int descriptor) {
  request.set_id(next_id_);
  const absl::Status sent = link_->Send(request, descriptor);
  EXPECT_TRUE(sent.ok()) << sent;
  return next_id_++;
}

absl::StatusOr<v1::ExecutorResponse> ExecutorProcess::Receive() {
  const absl::StatusOr<link::Received> received = link_->Receive(kPatience);
  if (!received.ok()) return received.status();
  v1::ExecutorResponse response;
  if (absl::Status parsed = link::Parse(*received, response); !parsed.ok()) return parsed;
  return response;
}

v1::ExecutorResponse ExecutorProcess::Call(v1::ExecutorRequest request, int descriptor) {
  const std::uint64_t id = Send(std::move(request), descriptor);
  const absl::StatusOr<v1::ExecutorResponse> response = Receive();
  EXPECT_TRUE(response.ok()) << response.status();
  if (!response.ok()) return {};
  EXPECT_EQ(response->id(), id);
  return *response;
}

std::optional<int> ExecutorProcess::WaitForExit() {
  const absl::Time deadline = absl::Now() + kPatience;
  while (!exit_ && absl::Now() < deadline) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_ = ToExit(status);
    } else {
      absl::SleepFor(absl::Milliseconds(2));
    }
  }
  return exit_;
}

Ran RunToEnd(const std::string& binary, const std::vector<std::string>& flags) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const link::UniqueFd reads(ends[0]);
  link::UniqueFd writes(ends[1]);
  const pid_t pid = Spawn(binary, flags, writes.get(), STDOUT_FILENO);
  writes.reset();
  Ran ran;
  char buffer[4096];
  ssize_t got;
  while ((got = read(reads.get(), buffer, sizeof(buffer))) > 0) ran.output.append(buffer, got);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  ran.exit_code = ToExit(status);
  return ran;
}

}  // namespace gpuos::executor
