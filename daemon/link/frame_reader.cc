#include "daemon/link/frame_reader.h"

#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gpuos::link {
namespace {

// A frame's buffer grows in such steps with what really comes, so that four bytes of garbage do not
// make this process reserve 64 MiB.
constexpr std::size_t kGrowth = std::size_t{1} << 20;
// Room for more descriptors than a message may carry, so that a peer that breaks the rule is seen.
constexpr std::size_t kDescriptorRoom = 4;

std::uint32_t LittleEndian(const std::array<unsigned char, 4>& bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

absl::Status ReadError(int error) {
  if (error == ECONNRESET) return absl::UnavailableError("the peer has closed the link");
  return absl::UnavailableError(absl::StrCat("reading the link failed: ", std::strerror(error)));
}

}  // namespace

absl::Status Parse(const Received& received, google::protobuf::MessageLite& message) {
  if (message.ParseFromString(received.bytes)) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("a frame of ", received.bytes.size(), " bytes is no ", message.GetTypeName()));
}

absl::StatusOr<std::optional<Received>> FrameReader::TryRead() {
  if (!failed_.ok()) return failed_;
  absl::StatusOr<bool> complete = ReadLength();
  if (complete.ok() && *complete) complete = ReadBody();
  if (!complete.ok()) {
    failed_ = complete.status();
    partial_ = Received();
    return failed_;
  }
  if (!*complete) return std::optional<Received>();
  length_got_ = 0;
  body_got_ = 0;
  return std::optional<Received>(std::exchange(partial_, Received()));
}

absl::StatusOr<bool> FrameReader::ReadLength() {
  while (length_got_ < length_bytes_.size()) {
    const absl::StatusOr<std::size_t> got =
        ReadSome(reinterpret_cast<char*>(length_bytes_.data()) + length_got_,
                 length_bytes_.size() - length_got_);
    if (!got.ok()) return got.status();
    if (*got == 0) return false;
    length_got_ += *got;
  }
  if (LittleEndian(length_bytes_) > kMaxMessageBytes) {
    return absl::DataLossError(absl::StrCat("the peer announces a message of ",
                                            LittleEndian(length_bytes_), " bytes; at most ",
                                            kMaxMessageBytes, " may be sent"));
  }
  return true;
}

absl::StatusOr<bool> FrameReader::ReadBody() {
  const std::size_t length = LittleEndian(length_bytes_);
  while (body_got_ < length) {
    if (body_got_ == partial_.bytes.size()) {
      partial_.bytes.resize(std::min(length, body_got_ + kGrowth));
    }
    const absl::StatusOr<std::size_t> got =
        ReadSome(partial_.bytes.data() + body_got_, partial_.bytes.size() - body_got_);
    if (!got.ok()) return got.status();
    if (*got == 0) return false;
    body_got_ += *got;
  }
  return true;
}

absl::StatusOr<std::size_t> FrameReader::ReadSome(char* to, std::size_t size) {
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorRoom * sizeof(int))];
  iovec part{.iov_base = to, .iov_len = size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::size_t{0};
    return ReadError(errno);
  }
  if (absl::Status status = TakeDescriptors(header); !status.ok()) return status;
  if (got == 0) return absl::UnavailableError("the peer has closed the link");
  return static_cast<std::size_t>(got);
}

absl::Status FrameReader::TakeDescriptors(msghdr& header) {
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t descriptors = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < descriptors; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      UniqueFd owned(fd);
      if (++count == 1 && length_got_ == 0) partial_.fd = std::move(owned);
    }
  }
  // The kernel drops what it finds no place for; with room left, only the process's limit does
  // that.
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    if (count == kDescriptorRoom) ++count;
    partial_.descriptor_lost = true;
  }
  if (count > 1) {
    return absl::DataLossError(
        "the peer sent several descriptors with one message; at most one "
        "may ride with a message");
  }
  if (count == 1 && length_got_ != 0) {
    return absl::DataLossError(
        "the peer sent a descriptor in the middle of a message; it must "
        "ride with the message's length");
  }
  return absl::OkStatus();
}

}  // namespace gpuos::link
