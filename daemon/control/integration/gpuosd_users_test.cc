// Other users of the machine. Runs outside of the build's sandbox, which has one user only.
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "daemon/control/integration/gpuosd_process.h"
#include "daemon/control/integration/raw_client.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

constexpr int kCannotBecomeAnother = 77;

// Exit code of a child.
int WaitFor(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// Connects as nobody. Only system calls in the copy of this process. 0 if permission is denied.
int ConnectAsNobody(const std::string& path) {
  constexpr int kNobody = 65534;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(kCannotBecomeAnother);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int result = connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    _exit(result != 0 && errno == EACCES ? 0 : 1);
  }
  return WaitFor(child);
}

TEST(GpuosdUsersTest, AnotherUserCannotConnect) {
  TemporaryDirectory directory;
  GpuosdProcess gpuosd({.socket = directory.File("s"), .fake_executor = true});
  RawClient client(directory.File("s"));
  ASSERT_TRUE(client.Open().ok());
  const int code = ConnectAsNobody(directory.File("s"));
  if (code == kCannotBecomeAnother) GTEST_SKIP() << "this test needs root and a second user";
  EXPECT_EQ(code, 0);
}

TEST(GpuosdUsersTest, AnotherUserWhoKnowsTheTokenIsDenied) {
  TemporaryDirectory directory;
  GpuosdProcess gpuosd(
      {.socket = directory.File("s"), .fake_executor = true, .flags = {"--socket-mode=0666"}});
  RawClient client(directory.File("s"));
  ASSERT_TRUE(client.Open().ok());
  std::string program = Runfile("daemon/control/integration/intruder");
  std::string socket = directory.File("s");
  std::string session = std::to_string(client.session().id());
  std::string token = absl::BytesToHexString(client.session().token());
  char* arguments[] = {program.data(), socket.data(), session.data(), token.data(), nullptr};
  pid_t child = -1;
  ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ), 0);
  const int code = WaitFor(child);
  if (code == kCannotBecomeAnother) GTEST_SKIP() << "this test needs root and a second user";
  EXPECT_EQ(code, 0);
  EXPECT_EQ(client.Attach().code(), 0);
}

}  // namespace
}  // namespace gpuos::control
