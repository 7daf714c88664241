#include "daemon/control/attach_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/control/attach_channel.h"
#include "daemon/control/attach_packet.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/listener.h"
#include "daemon/control/peer.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/attach.pb.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

// Takes every session whose token is "right". Thread-safe.
class RecordingDelegate : public AttachDelegate {
 public:
  absl::Status Attach(const v1::AttachHello& hello, PeerCredentials peer,
                      std::shared_ptr<AttachChannel> /*channel*/) override {
    if (hello.token() != "right" || peer.uid != getuid() || peer.pid != getpid()) {
      return absl::UnauthenticatedError("not the token");
    }
    return absl::OkStatus();
  }
  absl::Status KeepDescriptor(std::uint64_t /*session*/, std::uint64_t /*cookie*/,
                              link::UniqueFd descriptor) override {
    absl::MutexLock lock(&mutex_);
    close_on_exec_ = (fcntl(descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0;
    ++kept_;
    return absl::OkStatus();
  }
  void Detached(std::uint64_t session, const std::string& /*why*/) override {
    absl::MutexLock lock(&mutex_);
    detached_.push_back(session);
  }

  bool WaitForDetached(std::uint64_t session) {
    absl::MutexLock lock(&mutex_);
    const auto detached = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return !detached_.empty() && detached_.back() == session;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&detached), absl::Seconds(10));
  }
  int kept() {
    absl::MutexLock lock(&mutex_);
    return close_on_exec_ ? kept_ : -1;
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::uint64_t> detached_ ABSL_GUARDED_BY(mutex_);
  int kept_ ABSL_GUARDED_BY(mutex_) = 0;
  bool close_on_exec_ ABSL_GUARDED_BY(mutex_) = false;
};

class AttachServerTest : public testing::Test {
 protected:
  static constexpr std::size_t kMax = 3;

  void SetUp() override {
    std::string pattern = "/tmp/attach-test-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    listener_.emplace(
        *Listener::Bind({.path = directory_ + "/a", .type = SOCK_SEQPACKET, .mode = 0600}));
    loop_ = *EventLoop::Create();
    server_ =
        std::make_unique<AttachServer>(loop_.get(), listener_->descriptor(), kMax, &delegate_);
    ASSERT_TRUE(server_->Start().ok());
    thread_ = std::thread([this] { loop_->Run(); });
  }
  void TearDown() override {
    loop_->Stop();
    thread_.join();
    server_.reset();
    listener_.reset();
    std::filesystem::remove_all(directory_);
  }

  link::UniqueFd Connect() const {
    link::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ + "/a";
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }
  // The next acknowledgement; nothing at the end of the connection.
  static std::optional<v1::AttachAck> ReadAck(const link::UniqueFd& socket) {
    pollfd readable = {.fd = socket.get(), .events = POLLIN, .revents = 0};
    poll(&readable, 1, 10000);
    absl::StatusOr<AttachPacket> packet = ReceiveAttachPacket(socket.get());
    v1::AttachServerMessage message;
    if (!packet.ok() || !message.ParseFromString(packet->bytes)) return std::nullopt;
    return message.ack();
  }
  static std::optional<v1::AttachAck> Hello(const link::UniqueFd& socket, std::uint64_t session,
                                            const std::string& token) {
    v1::AttachClientMessage message;
    message.mutable_hello()->set_session(session);
    message.mutable_hello()->set_token(token);
    EXPECT_TRUE(SendAttachPacket(socket.get(), message.SerializeAsString(), -1).ok());
    return ReadAck(socket);
  }
  static std::optional<v1::AttachAck> SendMemory(const link::UniqueFd& socket, int descriptor) {
    v1::AttachClientMessage message;
    message.mutable_memory()->set_cookie(17);
    EXPECT_TRUE(SendAttachPacket(socket.get(), message.SerializeAsString(), descriptor).ok());
    return ReadAck(socket);
  }

  std::string directory_;
  RecordingDelegate delegate_;
  std::optional<Listener> listener_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<AttachServer> server_;
  std::thread thread_;
};

TEST_F(AttachServerTest, AttachesTakesDescriptorsAndNoticesTheEnd) {
  link::UniqueFd socket = Connect();
  EXPECT_EQ(Hello(socket, 4, "right")->code(), 0);
  const link::UniqueFd memory(memfd_create("m", MFD_CLOEXEC));
  const std::optional<v1::AttachAck> ack = SendMemory(socket, memory.get());
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->code(), 0);
  EXPECT_EQ(ack->cookie(), 17u);
  EXPECT_EQ(delegate_.kept(), 1);
  EXPECT_EQ(SendMemory(socket, -1)->code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  socket.reset();
  EXPECT_TRUE(delegate_.WaitForDetached(4));
}

TEST_F(AttachServerTest, AWrongTokenIsToldAndTheConnectionClosed) {
  const link::UniqueFd socket = Connect();
  EXPECT_EQ(Hello(socket, 4, "wrong")->code(),
            static_cast<int>(absl::StatusCode::kUnauthenticated));
  EXPECT_FALSE(ReadAck(socket).has_value());
}

TEST_F(AttachServerTest, AnythingButHelloFirstClosesTheConnection) {
  const link::UniqueFd socket = Connect();
  EXPECT_FALSE(SendMemory(socket, -1).has_value());
  const link::UniqueFd twice = Connect();
  EXPECT_EQ(Hello(twice, 4, "right")->code(), 0);
  EXPECT_FALSE(Hello(twice, 5, "right").has_value());
  EXPECT_TRUE(delegate_.WaitForDetached(4));
}

TEST_F(AttachServerTest, PacketsAreBoundedAndGarbageEndsTheSession) {
  const link::UniqueFd socket = Connect();
  EXPECT_EQ(Hello(socket, 6, "right")->code(), 0);
  EXPECT_TRUE(SendAttachPacket(socket.get(), std::string(4097, 'x'), -1).ok());
  EXPECT_FALSE(ReadAck(socket).has_value());
  EXPECT_TRUE(delegate_.WaitForDetached(6));
}

TEST_F(AttachServerTest, BeyondTheLimitAConnectionIsToldSo) {
  std::vector<link::UniqueFd> sockets;
  for (std::size_t i = 0; i < kMax; ++i) {
    sockets.push_back(Connect());
    EXPECT_EQ(Hello(sockets.back(), i + 1, "right")->code(), 0);
  }
  const link::UniqueFd refused = Connect();
  EXPECT_EQ(ReadAck(refused)->code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_FALSE(ReadAck(refused).has_value());
  sockets.pop_back();
  EXPECT_TRUE(delegate_.WaitForDetached(kMax));
  EXPECT_EQ(Hello(Connect(), 9, "right")->code(), 0);
}

}  // namespace
}  // namespace gpuos::control
