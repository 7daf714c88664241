// In a program of its own: here nothing may use gRPC before the children are forked.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "client/testing/fake_daemon.h"
#include "gpuos/client.h"

namespace gpuos {
namespace {

constexpr unsigned kSecondsOfAChild = 20;

// A fake daemon in a process of its own, which ends when `stop` is closed by everyone else.
[[noreturn]] void RunDaemon(int target, int stop) {
  ::alarm(kSecondsOfAChild);
  auto daemon = testing::FakeDaemon::Start({});
  if (!daemon.ok()) ::_exit(1);
  const std::string address = (*daemon)->target();
  char byte;
  const bool said = ::write(target, address.data(), address.size()) > 0;
  const bool stopped = ::read(stop, &byte, 1) == 0;
  daemon->reset();
  ::_exit(said && stopped ? 0 : 1);
}

bool Works(const std::string& target) {
  Session::Options options;
  options.target = target;
  auto session = Session::Connect(options);
  return session.ok() && (*session)->CreateSegment(1).ok();
}

bool EndedWell(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkBeforeConnectTest, ParentAndChildrenEachHaveTheirOwnSession) {
  int target_pipe[2];
  int stop_pipe[2];
  ASSERT_EQ(::pipe(target_pipe), 0);
  ASSERT_EQ(::pipe(stop_pipe), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::close(stop_pipe[1]);
    RunDaemon(target_pipe[1], stop_pipe[0]);
  }
  char address[256];
  const ssize_t size = ::read(target_pipe[0], address, sizeof(address));
  ASSERT_GT(size, 0);
  const std::string target(address, static_cast<std::size_t>(size));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSecondsOfAChild);
    ::_exit(Works(target) ? 0 : 1);
  }
  EXPECT_TRUE(Works(target));
  EXPECT_TRUE(EndedWell(child));
  ::close(stop_pipe[1]);
  EXPECT_TRUE(EndedWell(daemon));
}

}  // namespace
}  // namespace gpuos
