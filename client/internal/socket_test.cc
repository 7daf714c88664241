#include "client/internal/socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "client/testing/status_matchers.h"
#include "client/testing/temp_directory.h"

namespace gpuos::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

absl::Time In(absl::Duration time) { return absl::Now() + time; }

UniqueFd Listen(const std::string& path, int type, int backlog) {
  UniqueFd listener(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(listener.get(), backlog), 0);
  return listener;
}

TEST(SocketTest, ConnectsWithADescriptorThatNoOtherProgramInherits) {
  testing::TempDirectory directory;
  const UniqueFd listener = Listen(directory.File("s"), SOCK_SEQPACKET, 1);
  auto fd = ConnectSocket(directory.File("s"), SOCK_SEQPACKET, In(absl::Seconds(1)));
  ASSERT_THAT(fd, IsOk());
  EXPECT_EQ(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(SocketTest, SaysThatAFileIsNoSocket) {
  testing::TempDirectory directory;
  std::ofstream(directory.File("file")) << "text";
  EXPECT_THAT(ConnectSocket(directory.File("file"), SOCK_STREAM, In(absl::Seconds(1))),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(directory.File("file")), HasSubstr("GPUOS_TARGET"))));
}

TEST(SocketTest, SaysThatASocketIsOfAnotherType) {
  testing::TempDirectory directory;
  const UniqueFd listener = Listen(directory.File("s"), SOCK_STREAM, 1);
  EXPECT_THAT(ConnectSocket(directory.File("s"), SOCK_SEQPACKET, In(absl::Seconds(1))),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("it is not a socket of gpuosd")));
}

TEST(SocketTest, GivesUpOnAFullBacklogAtTheDeadline) {
  testing::TempDirectory directory;
  const UniqueFd listener = Listen(directory.File("s"), SOCK_STREAM, 0);
  std::vector<UniqueFd> waiting;
  absl::Status status;
  const absl::Time start = absl::Now();
  while (status.ok() && waiting.size() < 8) {
    auto fd = ConnectSocket(directory.File("s"), SOCK_STREAM, In(absl::Milliseconds(50)));
    status = fd.status();
    if (fd.ok()) waiting.push_back(*std::move(fd));
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("its backlog is full")));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(SocketTest, SaysWhichGroupMayConnectWhenPermissionIsDenied) {
  for (const int error : {EACCES, EPERM}) {
    EXPECT_THAT(ConnectError("/run/gpuosd/gpuosd.sock", error),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         "cannot reach gpuosd at /run/gpuosd/gpuosd.sock: permission denied; join "
                         "the group that owns the socket (ls -l /run/gpuosd/gpuosd.sock shows it; "
                         "usermod -aG GROUP USER, then log in again)"));
  }
}

}  // namespace
}  // namespace gpuos::internal
