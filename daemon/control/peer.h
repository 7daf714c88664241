// Who is at the other end of a unix socket, as the kernel says.
#ifndef GPUOS_DAEMON_CONTROL_PEER_H_
#define GPUOS_DAEMON_CONTROL_PEER_H_

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

struct PeerCredentials {
  uid_t uid = 0;
  // 0 for a process that our pid namespace does not show.
  pid_t pid = 0;
};

// SO_PEERCRED of a connected unix socket: who connected, not who writes now.
absl::StatusOr<PeerCredentials> ReadPeerCredentials(int socket);

// A pidfd of the process, readable when it has ended. A negative descriptor (OK) where the process
// is not visible from here (pid 0); NOT_FOUND if it is gone already.
absl::StatusOr<link::UniqueFd> OpenPidfd(pid_t pid);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_PEER_H_
