// The link between gpuosd and an executor: Protobuf messages over a stream socket pair, each behind
// its length as 4 bytes, little endian; a descriptor may ride with the length of its message.
#ifndef GPUOS_DAEMON_LINK_FRAMING_H_
#define GPUOS_DAEMON_LINK_FRAMING_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/link/frame_reader.h"
#include "daemon/link/frame_writer.h"
#include "daemon/link/unique_fd.h"
#include "google/protobuf/message_lite.h"

namespace gpuos::link {

// Two ends of a fresh link, both close-on-exec.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair();

// One end of a link. Owns the socket.
//
// Thread-safe: any thread may send, any may receive. Two ways to use it:
//   - threads: Send and Receive block;
//   - a loop that must not block (the executor's): poll fd() for reading, and for writing while
//     wants_write(); call TryReceive, Post and Flush.
//
// Two peers that send at once never wait for each other for ever: whoever waits for room in the
// socket takes in what the peer sends meanwhile and keeps it for Receive. What nobody received may
// grow to kMaxKeptBytes, and so may what Post has queued; beyond that the call fails with
// RESOURCE_EXHAUSTED instead of waiting.
//
// Errors of the link are final and come back from every later call: UNAVAILABLE when the peer has
// closed (what it sent before is received first), DATA_LOSS when it does not speak this format.
class Channel {
 public:
  static constexpr std::size_t kMaxKeptBytes = std::size_t{256} << 20;

  // Takes one end of a SOCK_STREAM unix socket.
  explicit Channel(UniqueFd socket)
      : socket_(std::move(socket)), writer_(socket_.get()), reader_(socket_.get()) {}

  // Returns once the kernel has the message. Blocks while the socket is full. `fd` stays the
  // caller's; a copy of it travels. INVALID_ARGUMENT for messages over kMaxMessageBytes, with
  // nothing sent.
  absl::Status Send(const google::protobuf::MessageLite& message, int fd = -1);

  // Queues the message and writes what the socket takes now. Does not block. Messages leave in the
  // order of Send and Post.
  absl::Status Post(const google::protobuf::MessageLite& message, UniqueFd fd = UniqueFd());

  // Writes more of what Post has queued. Does not block.
  absl::Status Flush();

  // Whether queued bytes wait for room in the socket.
  bool wants_write() const;

  // The next message. Blocks up to `timeout`, then DEADLINE_EXCEEDED. Meanwhile writes what Post
  // had queued before the call.
  absl::StatusOr<Received> Receive(absl::Duration timeout = absl::InfiniteDuration());

  // The next message if all of it is here, else nothing; parts are kept. Does not block, unless
  // another thread is in Receive.
  absl::StatusOr<std::optional<Received>> TryReceive();

  // Closes both directions: the peer, and every blocked call on this end, gets UNAVAILABLE.
  void Shutdown();

  // For poll(); stays owned by the channel.
  int fd() const { return socket_.get(); }

 private:
  // Takes in what has come, without blocking. The lock is for reading.
  absl::Status KeepIncoming() ABSL_EXCLUSIVE_LOCKS_REQUIRED(read_mutex_);
  std::optional<Received> TakeKept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(read_mutex_);
  absl::StatusOr<std::optional<Received>> Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(read_mutex_);
  // Waits for room in the socket, taking in what comes meanwhile unless another thread does.
  absl::Status WaitForRoom();
  // True once message `number` has left.
  absl::StatusOr<bool> FlushUpTo(std::uint64_t number);

  const UniqueFd socket_;

  // Never held together with read_mutex_ by one that waits.
  mutable absl::Mutex write_mutex_;
  FrameWriter writer_ ABSL_GUARDED_BY(write_mutex_);

  // Held through Receive, so that nobody takes away the bytes that it waits for.
  absl::Mutex read_mutex_;
  FrameReader reader_ ABSL_GUARDED_BY(read_mutex_);
  std::deque<Received> kept_ ABSL_GUARDED_BY(read_mutex_);
  std::size_t kept_bytes_ ABSL_GUARDED_BY(read_mutex_) = 0;
};

}  // namespace gpuos::link

#endif  // GPUOS_DAEMON_LINK_FRAMING_H_
