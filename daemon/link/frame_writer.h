// Messages to bytes of a stream socket, a descriptor with each at most.
#ifndef GPUOS_DAEMON_LINK_FRAME_WRITER_H_
#define GPUOS_DAEMON_LINK_FRAME_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"
#include "google/protobuf/message_lite.h"

namespace gpuos::link {

// A queue of messages in front of one end of a stream socket, written without ever blocking. Does
// not own the socket. Thread-compatible.
//
// An error of the socket is final (UNAVAILABLE): what was queued is dropped, every later call
// returns it again.
class FrameWriter {
 public:
  explicit FrameWriter(int socket) : socket_(socket) {}

  // Queues a message, and `fd` to ride with it if valid. Returns its number: it has left for the
  // socket once sent() is at least that. INVALID_ARGUMENT if it is longer than kMaxMessageBytes.
  absl::StatusOr<std::uint64_t> Push(const google::protobuf::MessageLite& message, UniqueFd fd);

  // Writes what the socket takes now.
  absl::Status Flush();

  bool empty() const { return queue_.empty(); }
  std::uint64_t sent() const { return sent_; }
  // Bytes in the queue.
  std::size_t queued_bytes() const { return queued_bytes_; }

 private:
  struct Frame {
    std::string bytes;  // Length and message.
    UniqueFd fd;        // Until it is sent, with the first byte.
  };

  // Bytes that the socket took of the first frame; 0 if it takes none now.
  absl::StatusOr<std::size_t> WriteSome();

  const int socket_;
  absl::Status failed_;
  std::deque<Frame> queue_;
  std::size_t first_done_ = 0;  // Bytes of the first frame that are written.
  std::size_t queued_bytes_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace gpuos::link

#endif  // GPUOS_DAEMON_LINK_FRAME_WRITER_H_
