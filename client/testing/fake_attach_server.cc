#include "client/testing/fake_attach_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/internal/attach_packet.h"

namespace gpuos::testing {
namespace {

using internal::UniqueFd;

// Packets are small and the peer reads them: nothing here ever waits this long.
absl::Time Soon() { return absl::Now() + absl::Seconds(5); }

void SendAck(int socket, std::uint64_t cookie, const absl::Status& status) {
  v1::AttachServerMessage answer;
  answer.mutable_ack()->set_cookie(cookie);
  answer.mutable_ack()->set_code(static_cast<int>(status.code()));
  answer.mutable_ack()->set_message(std::string(status.message()));
  internal::SendPacket(socket, answer.SerializeAsString(), -1, Soon()).IgnoreError();
}

}  // namespace

FakeAttachServer::FakeAttachServer(std::string path, Judge judge)
    : path_(std::move(path)), judge_(std::move(judge)) {}

FakeAttachServer::~FakeAttachServer() { Stop(); }

absl::Status FakeAttachServer::Start() {
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_.get(), 16) != 0) {
    return absl::ErrnoToStatus(errno, path_);
  }
  thread_ = std::thread([this] { Serve(); });
  return absl::OkStatus();
}

void FakeAttachServer::Stop() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof(one)));
  thread_.join();
  listener_.Reset();
  HangUp();
}

absl::Status FakeAttachServer::SendMemory(std::uint64_t session, std::uint64_t cookie,
                                          int descriptor) {
  absl::MutexLock lock(&mutex_);
  Connection* const connection = Find(session);
  if (connection == nullptr) return absl::UnavailableError("the session is not attached");
  v1::AttachServerMessage message;
  message.mutable_memory()->set_cookie(cookie);
  return internal::SendPacket(connection->socket.get(), message.SerializeAsString(), descriptor,
                              Soon());
}

UniqueFd FakeAttachServer::TakeMemory(std::uint64_t session, std::uint64_t cookie) {
  absl::MutexLock lock(&mutex_);
  Connection* const connection = Find(session);
  if (connection == nullptr) return UniqueFd();
  auto found = connection->arrived.extract(cookie);
  return found ? std::move(found.mapped()) : UniqueFd();
}

void FakeAttachServer::HangUp() {
  absl::MutexLock lock(&mutex_);
  // The thread may be polling them: shut down now, closed when it sees that.
  for (auto& [fd, connection] : connections_) ::shutdown(fd, SHUT_RDWR);
  if (stopping_) connections_.clear();
}

int FakeAttachServer::connections() const {
  absl::MutexLock lock(&mutex_);
  int count = 0;
  for (const auto& [fd, connection] : connections_) count += connection.session != 0 ? 1 : 0;
  return count;
}

void FakeAttachServer::Serve() {
  for (;;) {
    std::vector<pollfd> waits = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
      for (const auto& [fd, connection] : connections_) waits.push_back({fd, POLLIN, 0});
    }
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[1].revents != 0) Accept();
    absl::MutexLock lock(&mutex_);
    for (std::size_t i = 2; i < waits.size(); ++i) {
      const auto found = connections_.find(waits[i].fd);
      if (waits[i].revents == 0 || found == connections_.end()) continue;
      if (!Answer(found->second)) connections_.erase(found);
    }
  }
}

void FakeAttachServer::Accept() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.valid()) return;
  absl::MutexLock lock(&mutex_);
  const int fd = socket.get();
  connections_[fd].socket = std::move(socket);
}

bool FakeAttachServer::Answer(Connection& connection) {
  absl::StatusOr<internal::RawPacket> packet =
      internal::ReceivePacket(connection.socket.get(), Soon());
  v1::AttachClientMessage message;
  if (!packet.ok() || !message.ParseFromString(packet->bytes)) return false;
  const absl::Status verdict = judge_(connection.session, message);
  if (verdict.ok() && message.has_hello()) connection.session = message.hello().session();
  if (verdict.ok() && message.has_memory()) {
    connection.arrived[message.memory().cookie()] = std::move(packet->descriptor);
  }
  SendAck(connection.socket.get(), message.memory().cookie(), verdict);
  return verdict.ok() || !message.has_hello();
}

FakeAttachServer::Connection* FakeAttachServer::Find(std::uint64_t session) {
  for (auto& [fd, connection] : connections_) {
    if (connection.session == session) return &connection;
  }
  return nullptr;
}

}  // namespace gpuos::testing
