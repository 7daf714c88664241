#include "daemon/control/grpc_acceptor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
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
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/listener.h"
#include "daemon/control/peer_table.h"
#include "daemon/link/unique_fd.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

class GrpcAcceptorTest : public testing::Test {
 protected:
  static constexpr std::size_t kMax = 3;

  void SetUp() override {
    std::string pattern = "/tmp/acceptor-test-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    listener_.emplace(
        *Listener::Bind({.path = directory_ + "/s", .type = SOCK_STREAM, .mode = 0600}));
    loop_ = *EventLoop::Create();
    acceptor_ =
        std::make_unique<GrpcAcceptor>(loop_.get(), &peers_,
                                       GrpcAcceptor::Options{.listening = listener_->descriptor(),
                                                             .max_connections = kMax,
                                                             .hand_over = [this](int fd) {
                                                               absl::MutexLock lock(&mutex_);
                                                               taken_.emplace_back(fd);
                                                             }});
    ASSERT_TRUE(acceptor_->Start().ok());
    thread_ = std::thread([this] { loop_->Run(); });
  }
  void TearDown() override {
    loop_->Stop();
    thread_.join();
    acceptor_.reset();
    listener_.reset();
    std::filesystem::remove_all(directory_);
  }

  link::UniqueFd Connect() const {
    link::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ + "/s";
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }
  // Waits until `count` connections are handed over; the last one's descriptor.
  int WaitForTaken(std::size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return taken_.size() >= count; };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&there), absl::Seconds(10))) return -1;
    return taken_.back().get();
  }
  // Closes the oldest, as gRPC does.
  void CloseFirst() {
    absl::MutexLock lock(&mutex_);
    taken_.front().reset();
  }

  std::string directory_;
  PeerTable peers_;
  std::optional<Listener> listener_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<GrpcAcceptor> acceptor_;
  std::thread thread_;
  absl::Mutex mutex_;
  std::vector<link::UniqueFd> taken_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(GrpcAcceptorTest, KnowsWhoseAConnectionIs) {
  const link::UniqueFd socket = Connect();
  const int fd = WaitForTaken(1);
  const absl::StatusOr<PeerCredentials> peer = peers_.Find(absl::StrCat("fd:", fd));
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(peer->uid, getuid());
  EXPECT_EQ(peer->pid, getpid());
  EXPECT_TRUE(absl::IsUnauthenticated(peers_.Find("fd:99999").status()));
  EXPECT_TRUE(absl::IsUnauthenticated(peers_.Find("ipv4:127.0.0.1:5").status()));
}

TEST_F(GrpcAcceptorTest, ANumberIsNotUsedAgainSoon) {
  const link::UniqueFd first = Connect();
  const int number = WaitForTaken(1);
  CloseFirst();
  const link::UniqueFd second = Connect();
  EXPECT_NE(WaitForTaken(2), number);
}

TEST_F(GrpcAcceptorTest, BeyondTheLimitAClientIsToldSoUntilAnotherHasGone) {
  std::vector<link::UniqueFd> sockets;
  for (std::size_t i = 0; i < kMax; ++i) sockets.push_back(Connect());
  WaitForTaken(kMax);
  const link::UniqueFd refused = Connect();
  std::string said;
  char bytes[256];
  for (ssize_t size; (size = recv(refused.get(), bytes, sizeof(bytes), 0)) > 0;) {
    said.append(bytes, static_cast<std::size_t>(size));
  }
  // An empty SETTINGS frame, then GOAWAY (7).
  EXPECT_EQ(said.substr(0, 9), std::string("\0\0\0\x04\0\0\0\0\0", 9));
  EXPECT_EQ(said[12], 7);
  EXPECT_NE(said.find("gpuosd has 3 connections, its limit"), std::string::npos);

  CloseFirst();
  const link::UniqueFd next = Connect();
  EXPECT_GE(WaitForTaken(kMax + 1), 0);
  EXPECT_EQ(peers_.size(), kMax);
}

}  // namespace
}  // namespace gpuos::control
