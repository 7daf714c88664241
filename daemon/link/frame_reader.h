// Bytes of a stream socket to messages, a descriptor with each at most.
#ifndef GPUOS_DAEMON_LINK_FRAME_READER_H_
#define GPUOS_DAEMON_LINK_FRAME_READER_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"
#include "google/protobuf/message_lite.h"

namespace gpuos::link {

// The largest message, bytes, that either side may send.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

// One message as it came.
struct Received {
  std::string bytes;
  // The descriptor that rode with it, if one did. Close-on-exec.
  UniqueFd fd;
  // A descriptor was sent and could not be taken because this process has as many open as it may.
  bool descriptor_lost = false;
};

// Fills `message` from what was received; DATA_LOSS if the bytes are no such message.
absl::Status Parse(const Received& received, google::protobuf::MessageLite& message);

// Reads one end of a stream socket without ever blocking and keeps what has come of a message that
// is not complete. Does not own the socket. Thread-compatible.
//
// Reads the four bytes of length and then the message, never more: the kernel hands a descriptor
// over with the first byte that it was sent with, so it always comes with the length of its own
// message.
//
// An error is final, every later call returns it again: UNAVAILABLE when the peer has closed,
// DATA_LOSS when what comes is not framed as agreed. Descriptors that break the rules are closed.
class FrameReader {
 public:
  explicit FrameReader(int socket) : socket_(socket) {}

  // The next message if all of it has come, else nothing.
  absl::StatusOr<std::optional<Received>> TryRead();

 private:
  // Reads up to `size` bytes; 0 if there are none now.
  absl::StatusOr<std::size_t> ReadSome(char* to, std::size_t size);
  absl::Status TakeDescriptors(msghdr& header);
  // Continue the length or the body; true once it is complete.
  absl::StatusOr<bool> ReadLength();
  absl::StatusOr<bool> ReadBody();

  const int socket_;
  absl::Status failed_;
  std::array<unsigned char, 4> length_bytes_{};
  std::size_t length_got_ = 0;
  std::size_t body_got_ = 0;
  Received partial_;
};

}  // namespace gpuos::link

#endif  // GPUOS_DAEMON_LINK_FRAME_READER_H_
