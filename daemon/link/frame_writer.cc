#include "daemon/link/frame_writer.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/link/frame_reader.h"

namespace gpuos::link {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::string MakeFrame(const google::protobuf::MessageLite& message, std::size_t size) {
  std::string frame(kLengthBytes + size, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame[i] = static_cast<char>(size >> (8 * i) & 0xff);
  }
  message.SerializeWithCachedSizesToArray(
      reinterpret_cast<std::uint8_t*>(frame.data() + kLengthBytes));
  return frame;
}

// ETOOMANYREFS: descriptors on their way are more than the peer has taken; it passes when it reads.
bool PassesByItself(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ETOOMANYREFS;
}

absl::Status WriteError(int error) {
  if (error == EPIPE || error == ECONNRESET) {
    return absl::UnavailableError("the peer has closed the link");
  }
  return absl::UnavailableError(absl::StrCat("writing the link failed: ", std::strerror(error)));
}

// Puts `fd` into the control part of a message.
void Attach(int fd, char* control, std::size_t size, msghdr& header) {
  header.msg_control = control;
  header.msg_controllen = size;
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &fd, sizeof(int));
}

}  // namespace

absl::StatusOr<std::uint64_t> FrameWriter::Push(const google::protobuf::MessageLite& message,
                                                UniqueFd fd) {
  if (!failed_.ok()) return failed_;
  const std::size_t size = message.ByteSizeLong();
  if (size > kMaxMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat(message.GetTypeName(), " has ", size,
                                                   " bytes; at most ", kMaxMessageBytes,
                                                   " may be sent, split it"));
  }
  queue_.push_back(Frame{.bytes = MakeFrame(message, size), .fd = std::move(fd)});
  queued_bytes_ += queue_.back().bytes.size();
  return ++pushed_;
}

absl::Status FrameWriter::Flush() {
  if (!failed_.ok()) return failed_;
  while (!queue_.empty()) {
    const absl::StatusOr<std::size_t> written = WriteSome();
    if (!written.ok()) {
      failed_ = written.status();
      queue_.clear();
      queued_bytes_ = 0;
      return failed_;
    }
    if (*written == 0) return absl::OkStatus();
    queue_.front().fd.reset();
    first_done_ += *written;
    queued_bytes_ -= *written;
    if (first_done_ == queue_.front().bytes.size()) {
      queue_.pop_front();
      first_done_ = 0;
      ++sent_;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> FrameWriter::WriteSome() {
  Frame& frame = queue_.front();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{.iov_base = frame.bytes.data() + first_done_,
             .iov_len = frame.bytes.size() - first_done_};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (frame.fd.valid()) Attach(frame.fd.get(), control, sizeof(control), header);
  ssize_t written = 0;
  do {
    written = ::sendmsg(socket_, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (written < 0 && errno == EINTR);
  if (written >= 0) return static_cast<std::size_t>(written);
  if (PassesByItself(errno)) return std::size_t{0};
  return WriteError(errno);
}

}  // namespace gpuos::link
