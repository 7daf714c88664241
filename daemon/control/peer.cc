#include "daemon/control/peer.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::control {

absl::StatusOr<PeerCredentials> ReadPeerCredentials(int socket) {
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot read who connected (SO_PEERCRED)");
  }
  return PeerCredentials{.uid = credentials.uid, .pid = credentials.pid};
}

absl::StatusOr<link::UniqueFd> OpenPidfd(pid_t pid) {
  if (pid <= 0) return link::UniqueFd();
  // By number: glibc has the wrapper only since 2.36. A pidfd is always close-on-exec.
  link::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd.get() >= 0) return pidfd;
  if (errno == ESRCH) return absl::NotFoundError(absl::StrCat("process ", pid, " has ended"));
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot watch process ", pid));
}

}  // namespace gpuos::control
