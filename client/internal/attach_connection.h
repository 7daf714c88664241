// The attach connection: it is the session's life line and carries its file descriptors.
#ifndef GPUOS_CLIENT_INTERNAL_ATTACH_CONNECTION_H_
#define GPUOS_CLIENT_INTERNAL_ATTACH_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/internal/unique_fd.h"
#include "gpuos/v1/attach.pb.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::internal {

// Owns the socket (gpuos/v1/attach.proto). While it is open the daemon keeps the session; when the
// daemon closes it, the session is over.
//
// Thread-safe: exchanges take turns. They block until their deadline (DEADLINE_EXCEEDED); a closed
// connection gives UNAVAILABLE. A refusal of the daemon comes with its own code and sentence.
class AttachConnection {
 public:
  // Connects to `path` and says hello for `session`.
  static absl::StatusOr<std::unique_ptr<AttachConnection>> Open(const std::string& path,
                                                                const v1::SessionHandle& session,
                                                                absl::Time deadline);
  AttachConnection(const AttachConnection&) = delete;
  AttachConnection& operator=(const AttachConnection&) = delete;

  // Sends a descriptor of memory, which the caller keeps, and returns its cookie when the daemon
  // has acknowledged it.
  absl::StatusOr<std::uint64_t> SendMemory(int descriptor, absl::Time deadline);
  // Takes the descriptor that the daemon sent, or is about to send, with `cookie`.
  absl::StatusOr<UniqueFd> TakeMemory(std::uint64_t cookie, absl::Time deadline);

  // Whether the daemon has closed the connection; looks for at most `patience`.
  bool Lost(absl::Duration patience = absl::ZeroDuration()) const;
  // Closes the socket while the object lives on. Nothing else may be called at the same time.
  void CloseSocket() { socket_.Reset(); }

 private:
  struct Packet {
    v1::AttachServerMessage message;
    UniqueFd descriptor;
  };

  explicit AttachConnection(UniqueFd socket) : socket_(std::move(socket)) {}
  absl::Status Send(const v1::AttachClientMessage& message, int descriptor, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AwaitAck(std::uint64_t cookie, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Packet> Receive(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps a descriptor that another thread waits for.
  void Keep(Packet packet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  UniqueFd socket_;
  absl::Mutex mutex_;
  std::uint64_t last_cookie_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::uint64_t, UniqueFd> arrived_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_ATTACH_CONNECTION_H_
