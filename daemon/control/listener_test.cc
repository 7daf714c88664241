#include "daemon/control/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/control/socket_lock.h"
#include "daemon/control/sockets.h"
#include "daemon/link/unique_fd.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    std::string pattern = "/tmp/listener-test-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~ListenerTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  static bool CanConnect(const std::string& path, int type) {
    const link::UniqueFd socket(::socket(AF_UNIX, type, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  std::string directory_;
};

TEST_F(ListenerTest, ListensAtThePathWithTheModeAndCleansUp) {
  {
    absl::StatusOr<Listener> listener =
        Listener::Bind({.path = Path("s"), .type = SOCK_STREAM, .mode = 0640});
    ASSERT_TRUE(listener.ok()) << listener.status();
    struct stat about = {};
    ASSERT_EQ(stat(Path("s").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0640u);
    EXPECT_TRUE(CanConnect(Path("s"), SOCK_STREAM));
    const Listener moved = *std::move(listener);
    EXPECT_TRUE(CanConnect(Path("s"), SOCK_STREAM));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(ListenerTest, ReplacesAStaleSocket) {
  const link::UniqueFd stale(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, Path("s").data(), Path("s").size());
  ASSERT_EQ(bind(stale.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  std::ofstream(Path("s.new")) << "half made";
  absl::StatusOr<Listener> listener =
      Listener::Bind({.path = Path("s"), .type = SOCK_SEQPACKET, .mode = 0600});
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(CanConnect(Path("s"), SOCK_SEQPACKET));
  EXPECT_FALSE(std::filesystem::exists(Path("s.new")));
}

TEST_F(ListenerTest, LeavesAFileThatIsNoSocketAlone) {
  std::ofstream(Path("s")) << "precious";
  const absl::StatusOr<Listener> listener =
      Listener::Bind({.path = Path("s"), .type = SOCK_STREAM, .mode = 0600});
  EXPECT_TRUE(absl::IsFailedPrecondition(listener.status())) << listener.status();
  EXPECT_EQ(std::filesystem::file_size(Path("s")), 8u);
  EXPECT_FALSE(std::filesystem::exists(Path("s.new")));
}

TEST_F(ListenerTest, PathsThatASocketCannotHaveAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(CheckSocketPath("")));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckSocketPath("run/s")));
  EXPECT_EQ(CheckSocketPath("/" + std::string(106, 'x')), absl::OkStatus());
  const absl::Status status = CheckSocketPath("/" + std::string(107, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("108 bytes"), absl::string_view::npos);
  EXPECT_FALSE(Listener::Bind({.path = Path("none/s"), .type = SOCK_STREAM, .mode = 0600}).ok());
}

TEST_F(ListenerTest, AdoptsASocketOfTheServiceManagerAndLeavesItsFile) {
  // Bound as a service manager does it, at its final name.
  link::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, Path("s").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(socket.get(), 8), 0);
  {
    absl::StatusOr<Listener> adopted = Listener::Adopt(std::move(socket));
    ASSERT_TRUE(adopted.ok()) << adopted.status();
    EXPECT_EQ(adopted->path(), Path("s"));
  }
  EXPECT_TRUE(std::filesystem::exists(Path("s")));
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const link::UniqueFd other(ends[1]);
  EXPECT_TRUE(absl::IsInvalidArgument(Listener::Adopt(link::UniqueFd(ends[0])).status()));
}

TEST_F(ListenerTest, OnlyOneHoldsAPathAndTheOtherHearsWho) {
  std::optional<Sockets> first;
  absl::StatusOr<Sockets> opened = OpenSockets(Path("s"), 0600);
  ASSERT_TRUE(opened.ok()) << opened.status();
  first.emplace(*std::move(opened));
  const absl::Status second = OpenSockets(Path("s"), 0600).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(second));
  EXPECT_NE(second.message().find(absl::StrCat("(pid ", getpid(), ")")), absl::string_view::npos);
  EXPECT_TRUE(CanConnect(Path("s"), SOCK_STREAM));
  EXPECT_TRUE(CanConnect(Path("s.attach"), SOCK_SEQPACKET));
  first.reset();
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  EXPECT_TRUE(OpenSockets(Path("s"), 0600).ok());
}

TEST_F(ListenerTest, ALockFileThatNobodyHoldsIsTaken) {
  std::ofstream(Path("s.lock")) << "999999\n";
  absl::StatusOr<SocketLock> lock = SocketLock::Acquire(Path("s"));
  ASSERT_TRUE(lock.ok()) << lock.status();
  std::string pid;
  std::ifstream(Path("s.lock")) >> pid;
  EXPECT_EQ(pid, std::to_string(getpid()));
}

}  // namespace
}  // namespace gpuos::control
