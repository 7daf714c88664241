#include "daemon/control/attach_server.h"

#include <sys/epoll.h>

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/control/attach_packet.h"
#include "daemon/control/limits.h"
#include "daemon/control/log.h"

namespace gpuos::control {
namespace {

// What one connection may take of the loop before the others have their turn.
constexpr int kPacketsAtOnce = 16;

absl::Status Acknowledge(const AttachChannel& channel, std::uint64_t cookie,
                         const absl::Status& status) {
  v1::AttachServerMessage message;
  message.mutable_ack()->set_cookie(cookie);
  message.mutable_ack()->set_code(static_cast<int>(status.code()));
  message.mutable_ack()->set_message(std::string(status.message()));
  return channel.Send(message);
}

}  // namespace

AttachServer::AttachServer(EventLoop* loop, int listening, std::size_t max_connections,
                           AttachDelegate* delegate)
    : loop_(loop),
      max_connections_(max_connections),
      delegate_(delegate),
      source_(
          loop, listening,
          [this](link::UniqueFd socket, PeerCredentials peer) { Accept(std::move(socket), peer); }),
      self_(std::make_shared<AttachServer*>(this)) {}

AttachServer::~AttachServer() {
  *self_ = nullptr;
  for (auto& [id, connection] : connections_) {
    Unwatch(connection);
    connection.channel->Shutdown();
  }
}

void AttachServer::Accept(link::UniqueFd socket, PeerCredentials peer) {
  auto channel = std::make_shared<AttachChannel>(std::move(socket));
  if (connections_.size() >= max_connections_) {
    // A client that is gone already does not miss the sentence.
    (void)Acknowledge(*channel, 0,
                      absl::ResourceExhaustedError(absl::StrCat(
                          "gpuosd has ", connections_.size(),
                          " attach connections, its limit; close some and try again")));
    return;
  }
  const std::uint64_t id = next_id_++;
  absl::StatusOr<EventLoop::WatchId> watch = loop_->Watch(channel->socket(), EPOLLIN | EPOLLRDHUP,
                                                          [this, id](std::uint32_t) { Read(id); });
  if (!watch.ok()) {
    LogWarning("dropped an attach connection of pid ", peer.pid, ": ", watch.status().ToString());
    return;
  }
  Connection& connection = connections_[id];
  connection.channel = std::move(channel);
  connection.peer = peer;
  connection.socket_watch = *watch;
  loop_->After(kAttachDeadline, [self = self_, id] {
    AttachServer* server = *self;
    if (server == nullptr) return;
    auto found = server->connections_.find(id);
    if (found != server->connections_.end() && found->second.session == 0) {
      server->Close(id, "it sent no AttachHello in time");
    }
  });
}

void AttachServer::Read(std::uint64_t id) {
  for (int packets = 0; packets < kPacketsAtOnce; ++packets) {
    absl::StatusOr<AttachPacket> packet =
        ReceiveAttachPacket(connections_.at(id).channel->socket());
    if (absl::IsUnavailable(packet.status())) return;
    absl::Status status = packet.status();
    if (status.ok()) status = Handle(id, *std::move(packet));
    if (!status.ok()) return Close(id, std::string(status.message()));
  }
}

absl::Status AttachServer::Handle(std::uint64_t id, AttachPacket packet) {
  v1::AttachClientMessage message;
  if (!message.ParseFromString(packet.bytes)) {
    return absl::InvalidArgumentError("a packet was not an AttachClientMessage");
  }
  const Connection& connection = connections_.at(id);
  const bool attached = connection.session != 0;
  if (message.has_hello() && !attached) return HandleHello(id, message.hello());
  if (message.has_memory() && attached) {
    return HandleDescriptor(connection, message.memory().cookie(), std::move(packet.descriptor));
  }
  return absl::InvalidArgumentError("AttachHello must come first, and once");
}

absl::Status AttachServer::HandleHello(std::uint64_t id, const v1::AttachHello& hello) {
  absl::Status status = WatchProcess(id);
  Connection& connection = connections_.at(id);
  if (status.ok()) status = delegate_->Attach(hello, connection.peer, connection.channel);
  if (status.ok()) connection.session = hello.session();
  const absl::Status sent = Acknowledge(*connection.channel, 0, status);
  return status.ok() ? sent : status;
}

absl::Status AttachServer::HandleDescriptor(const Connection& connection, std::uint64_t cookie,
                                            link::UniqueFd descriptor) {
  absl::Status status =
      descriptor.get() < 0
          ? absl::InvalidArgumentError(
                absl::StrCat("memory.cookie ", cookie,
                             " came without a descriptor (SCM_RIGHTS); send one with it"))
          : delegate_->KeepDescriptor(connection.session, cookie, std::move(descriptor));
  return Acknowledge(*connection.channel, cookie, status);
}

absl::Status AttachServer::WatchProcess(std::uint64_t id) {
  Connection& connection = connections_.at(id);
  absl::StatusOr<link::UniqueFd> pidfd = OpenPidfd(connection.peer.pid);
  if (!pidfd.ok()) return pidfd.status();
  // A process of another pid namespace: its connection alone says when it goes.
  if (pidfd->get() < 0) return absl::OkStatus();
  absl::StatusOr<EventLoop::WatchId> watch = loop_->Watch(
      pidfd->get(), EPOLLIN, [this, id](std::uint32_t) { Close(id, "its process ended"); });
  if (!watch.ok()) return watch.status();
  connection.pidfd = *std::move(pidfd);
  connection.pidfd_watch = *watch;
  return absl::OkStatus();
}

void AttachServer::Close(std::uint64_t id, const std::string& why) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const Connection connection = std::move(found->second);
  connections_.erase(found);
  Unwatch(connection);
  connection.channel->Shutdown();
  if (connection.session != 0) {
    delegate_->Detached(connection.session, why);
  } else {
    LogInfo("closed an attach connection of pid ", connection.peer.pid, ": ", why);
  }
}

void AttachServer::Unwatch(const Connection& connection) {
  loop_->Unwatch(connection.socket_watch, connection.channel->socket());
  if (connection.pidfd_watch != 0) loop_->Unwatch(connection.pidfd_watch, connection.pidfd.get());
}

}  // namespace gpuos::control
