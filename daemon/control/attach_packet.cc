#include "daemon/control/attach_packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {
namespace {

// Takes ownership of every descriptor that came.
std::vector<link::UniqueFd> TakeDescriptors(msghdr* message) {
  std::vector<link::UniqueFd> descriptors;
  for (cmsghdr* item = CMSG_FIRSTHDR(message); item != nullptr; item = CMSG_NXTHDR(message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(fd);
    }
  }
  return descriptors;
}

absl::Status NothingReceived(int error) {
  if (error == EAGAIN || error == EINTR) return absl::UnavailableError("no packet now");
  return absl::OutOfRangeError("the attach connection broke");
}

}  // namespace

absl::StatusOr<AttachPacket> ReceiveAttachPacket(int socket) {
  AttachPacket packet;
  packet.bytes.resize(kMaxAttachPacketBytes);
  iovec part = {packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();

  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0) return NothingReceived(errno);
  std::vector<link::UniqueFd> descriptors = TakeDescriptors(&message);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || descriptors.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("a packet over ", kMaxAttachPacketBytes,
                                                   " bytes or with several descriptors"));
  }
  // A SOCK_SEQPACKET socket says its end like an empty packet.
  if (size == 0) return absl::OutOfRangeError("the attach connection was closed");
  packet.bytes.resize(static_cast<std::size_t>(size));
  if (!descriptors.empty()) packet.descriptor = std::move(descriptors[0]);
  return packet;
}

absl::Status SendAttachPacket(int socket, const std::string& bytes, int descriptor) {
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &descriptor, sizeof(int));
  }
  if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return absl::OkStatus();
  if (errno == EAGAIN) {
    return absl::UnavailableError(
        "the client does not read its attach connection; read what was sent and try again");
  }
  return absl::UnavailableError(
      absl::StrCat("the attach connection has ended (", std::strerror(errno), ")"));
}

}  // namespace gpuos::control
