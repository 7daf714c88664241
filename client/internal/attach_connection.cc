#include "client/internal/attach_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "client/internal/attach_packet.h"
#include "client/internal/socket.h"

namespace gpuos::internal {
namespace {

// The cookie that answers AttachHello.
constexpr std::uint64_t kHelloCookie = 0;

}  // namespace

absl::StatusOr<std::unique_ptr<AttachConnection>> AttachConnection::Open(
    const std::string& path, const v1::SessionHandle& session, absl::Time deadline) {
  absl::StatusOr<UniqueFd> socket = ConnectSocket(path, SOCK_SEQPACKET, deadline);
  if (!socket.ok()) return socket.status();
  auto connection = absl::WrapUnique(new AttachConnection(*std::move(socket)));
  v1::AttachClientMessage hello;
  hello.mutable_hello()->set_session(session.id());
  hello.mutable_hello()->set_token(session.token());
  absl::MutexLock lock(&connection->mutex_);
  // A daemon that takes no more connections says why and hangs up, perhaps before it is greeted.
  const absl::Status sent = connection->Send(hello, -1, deadline);
  if (!sent.ok() && !absl::IsUnavailable(sent)) return sent;
  if (absl::Status status = connection->AwaitAck(kHelloCookie, deadline); !status.ok()) {
    return status;
  }
  return connection;
}

absl::StatusOr<std::uint64_t> AttachConnection::SendMemory(int descriptor, absl::Time deadline) {
  if (descriptor < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("descriptor ", descriptor, " is not an open file: pass one of memfd_create"));
  }
  absl::MutexLock lock(&mutex_);
  const std::uint64_t cookie = ++last_cookie_;
  v1::AttachClientMessage message;
  message.mutable_memory()->set_cookie(cookie);
  if (absl::Status status = Send(message, descriptor, deadline); !status.ok()) return status;
  if (absl::Status status = AwaitAck(cookie, deadline); !status.ok()) return status;
  return cookie;
}

absl::StatusOr<UniqueFd> AttachConnection::TakeMemory(std::uint64_t cookie, absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  for (;;) {
    if (auto found = arrived_.extract(cookie)) return std::move(found.mapped());
    absl::StatusOr<Packet> packet = Receive(deadline);
    if (!packet.ok()) return packet.status();
    Keep(*std::move(packet));
  }
}

bool AttachConnection::Lost(absl::Duration patience) const {
  // Nothing but the hang-up is waited for: poll reports it whatever is asked for.
  pollfd poll_fd = {socket_.get(), POLLRDHUP, 0};
  const int timeout = static_cast<int>(absl::ToInt64Milliseconds(patience));
  int ready;
  do {
    ready = ::poll(&poll_fd, 1, timeout);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

absl::Status AttachConnection::Send(const v1::AttachClientMessage& message, int descriptor,
                                    absl::Time deadline) {
  return SendPacket(socket_.get(), message.SerializeAsString(), descriptor, deadline);
}

absl::Status AttachConnection::AwaitAck(std::uint64_t cookie, absl::Time deadline) {
  for (;;) {
    absl::StatusOr<Packet> packet = Receive(deadline);
    if (!packet.ok()) return packet.status();
    if (packet->message.has_ack() && packet->message.ack().cookie() == cookie) {
      const v1::AttachAck& ack = packet->message.ack();
      return absl::Status(static_cast<absl::StatusCode>(ack.code()), ack.message());
    }
    Keep(*std::move(packet));
  }
}

absl::StatusOr<AttachConnection::Packet> AttachConnection::Receive(absl::Time deadline) {
  absl::StatusOr<RawPacket> raw = ReceivePacket(socket_.get(), deadline);
  if (!raw.ok()) return raw.status();
  Packet packet;
  packet.descriptor = std::move(raw->descriptor);
  if (!packet.message.ParseFromString(raw->bytes)) {
    return absl::InternalError("gpuosd sent a packet that is no attach message");
  }
  return packet;
}

void AttachConnection::Keep(Packet packet) {
  // An acknowledgement that nobody waits for any more (its exchange timed out) is dropped here.
  if (!packet.message.has_memory() || !packet.descriptor.valid()) return;
  arrived_.insert_or_assign(packet.message.memory().cookie(), std::move(packet.descriptor));
}

}  // namespace gpuos::internal
