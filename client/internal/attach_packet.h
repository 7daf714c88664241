// One packet of the attach socket: bytes and at most one descriptor.
#ifndef GPUOS_CLIENT_INTERNAL_ATTACH_PACKET_H_
#define GPUOS_CLIENT_INTERNAL_ATTACH_PACKET_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/internal/unique_fd.h"

namespace gpuos::internal {

// gpuos/v1/attach.proto.
inline constexpr std::size_t kMaxPacketBytes = 4096;

struct RawPacket {
  std::string bytes;
  UniqueFd descriptor;  // May be none.
};

// Sends one packet, with `descriptor` if it is not negative. Blocks until `deadline` at most.
// UNAVAILABLE: the peer is gone. INVALID_ARGUMENT: `descriptor` is no open one.
absl::Status SendPacket(int socket, const std::string& bytes, int descriptor, absl::Time deadline);

// Receives one packet. Blocks until `deadline` at most (DEADLINE_EXCEEDED). UNAVAILABLE: the peer
// is gone. INTERNAL: a packet that is too long or carries several descriptors.
absl::StatusOr<RawPacket> ReceivePacket(int socket, absl::Time deadline);

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_ATTACH_PACKET_H_
