// One packet of the attach socket: bytes and at most one descriptor.
#ifndef GPUOS_DAEMON_CONTROL_ATTACH_PACKET_H_
#define GPUOS_DAEMON_CONTROL_ATTACH_PACKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

struct AttachPacket {
  std::string bytes;
  link::UniqueFd descriptor;  // Negative if none came.
};

// Takes one packet from a non-blocking SOCK_SEQPACKET socket; its descriptor is close-on-exec.
// UNAVAILABLE if there is none now; OUT_OF_RANGE at the end of the connection; INVALID_ARGUMENT for
// a packet that is empty, longer than 4 KiB or carries more than one descriptor (all of which are
// closed).
absl::StatusOr<AttachPacket> ReceiveAttachPacket(int socket);

// Sends one packet, with `descriptor` (which stays the caller's) unless negative. UNAVAILABLE if
// the other side does not read, or has gone. Does not block.
absl::Status SendAttachPacket(int socket, const std::string& bytes, int descriptor);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_ATTACH_PACKET_H_
