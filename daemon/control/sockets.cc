#include "daemon/control/sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {
namespace {

constexpr int kFirstInherited = 3;

// The socket that systemd passed to this process, if it did.
link::UniqueFd TakeInherited() {
  const char* count_text = std::getenv("LISTEN_FDS");
  const char* pid_text = std::getenv("LISTEN_PID");
  int count = 0;
  int pid = 0;
  const bool ours = count_text != nullptr && pid_text != nullptr &&
                    absl::SimpleAtoi(count_text, &count) && absl::SimpleAtoi(pid_text, &pid) &&
                    count > 0 && pid == getpid();
  for (const char* name : {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}) unsetenv(name);
  return link::UniqueFd(ours ? kFirstInherited : -1);
}

absl::StatusOr<Listener> OpenGrpc(const std::string& path, mode_t mode, link::UniqueFd inherited) {
  if (inherited.valid()) return Listener::Adopt(std::move(inherited));
  return Listener::Bind({.path = path, .type = SOCK_STREAM, .mode = mode});
}

}  // namespace

absl::StatusOr<Sockets> OpenSockets(const std::string& path, mode_t mode) {
  link::UniqueFd inherited = TakeInherited();
  std::optional<SocketLock> lock;
  if (!inherited.valid()) {
    if (absl::Status status = CheckSocketPath(path); !status.ok()) return status;
    absl::StatusOr<SocketLock> locked = SocketLock::Acquire(path);
    if (!locked.ok()) return locked.status();
    lock.emplace(*std::move(locked));
  }
  absl::StatusOr<Listener> grpc = OpenGrpc(path, mode, std::move(inherited));
  if (!grpc.ok()) return grpc.status();
  absl::StatusOr<Listener> attach =
      Listener::Bind({.path = grpc->path() + ".attach", .type = SOCK_SEQPACKET, .mode = mode});
  if (!attach.ok()) return attach.status();
  return Sockets{std::move(lock), *std::move(grpc), *std::move(attach)};
}

}  // namespace gpuos::control
