#include "client/internal/attach_packet.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gpuos::internal {
namespace {

absl::Status Gone() { return absl::UnavailableError("gpuosd closed the attach connection"); }

// Waits until `events` or a hang-up can be seen.
absl::Status Await(int socket, short events, absl::Time deadline) {
  for (;;) {
    const absl::Duration left =
        std::clamp(deadline - absl::Now(), absl::ZeroDuration(), absl::Hours(1));
    pollfd poll_fd = {socket, events, 0};
    const int ready = ::poll(
        &poll_fd, 1,
        static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)))));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("cannot wait for the attach connection: ", std::strerror(errno)));
    }
    if (ready == 0 && absl::Now() >= deadline) {
      return absl::DeadlineExceededError("gpuosd did not answer on the attach connection in time");
    }
  }
}

absl::Status SendError(int error, int descriptor) {
  if (error == EBADF && descriptor >= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("descriptor ", descriptor, " is not an open file: pass one of memfd_create"));
  }
  if (error == EPIPE || error == ECONNRESET || error == ENOTCONN) return Gone();
  return absl::UnavailableError(
      absl::StrCat("cannot send on the attach connection: ", std::strerror(error)));
}

// All descriptors of a received message, each with an owner.
std::vector<UniqueFd> DescriptorsOf(msghdr& header) {
  std::vector<UniqueFd> descriptors;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
      descriptors.emplace_back(fd);
    }
  }
  return descriptors;
}

}  // namespace

absl::Status SendPacket(int socket, const std::string& bytes, int descriptor, absl::Time deadline) {
  iovec piece = {const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof(descriptor));
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return absl::OkStatus();
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return SendError(errno, descriptor);
    if (absl::Status status = Await(socket, POLLOUT, deadline); !status.ok()) return status;
  }
}

absl::StatusOr<RawPacket> ReceivePacket(int socket, absl::Time deadline) {
  RawPacket packet;
  packet.bytes.resize(kMaxPacketBytes);
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  for (;;) {
    iovec piece = {packet.bytes.data(), packet.bytes.size()};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t size = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      if (absl::Status status = Await(socket, POLLIN, deadline); !status.ok()) return status;
      continue;
    }
    if (size <= 0) return Gone();
    std::vector<UniqueFd> descriptors = DescriptorsOf(header);
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || descriptors.size() > 1) {
      return absl::InternalError("gpuosd sent a packet that is no attach message");
    }
    packet.bytes.resize(static_cast<std::size_t>(size));
    if (!descriptors.empty()) packet.descriptor = std::move(descriptors.front());
    return packet;
  }
}

}  // namespace gpuos::internal
