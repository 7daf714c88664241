// The daemon's end of a session's attach connection.
#ifndef GPUOS_DAEMON_CONTROL_ATTACH_CHANNEL_H_
#define GPUOS_DAEMON_CONTROL_ATTACH_CHANNEL_H_

#include <utility>

#include "absl/status/status.h"
#include "daemon/control/attach_packet.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/attach.pb.h"

namespace gpuos::control {

// Shared by the attach server, which reads, and the session, which sends memory files. The socket
// is closed when the last of them lets go.
//
// Thread-safe: each packet is one system call. Does not block.
class AttachChannel {
 public:
  explicit AttachChannel(link::UniqueFd socket) : socket_(std::move(socket)) {}

  int socket() const { return socket_.get(); }

  // UNAVAILABLE if the client does not read, or has gone. `descriptor` stays the caller's.
  absl::Status Send(const v1::AttachServerMessage& message, int descriptor = -1) const;

  // Ends the connection both ways; the attach server then sees its end.
  void Shutdown() const;

 private:
  const link::UniqueFd socket_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_ATTACH_CHANNEL_H_
