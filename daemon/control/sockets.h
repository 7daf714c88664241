// The daemon's two listening sockets.
#ifndef GPUOS_DAEMON_CONTROL_SOCKETS_H_
#define GPUOS_DAEMON_CONTROL_SOCKETS_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/control/listener.h"
#include "daemon/control/socket_lock.h"

namespace gpuos::control {

// The gRPC socket and, beside it, PATH.attach. The lock goes last. Thread-compatible.
struct Sockets {
  std::optional<SocketLock> lock;
  Listener grpc;
  Listener attach;
};

// Locks `path` and listens on it, or takes the gRPC socket from systemd: with $LISTEN_FDS the first
// descriptor (3) is it, and `path` is its path instead. The environment variables are then removed,
// so that no child takes them for its own. Errors are those of SocketLock and Listener; nothing is
// left.
absl::StatusOr<Sockets> OpenSockets(const std::string& path, mode_t mode);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SOCKETS_H_
