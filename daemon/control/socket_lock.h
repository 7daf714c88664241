// The file that says which gpuosd owns a socket path.
#ifndef GPUOS_DAEMON_CONTROL_SOCKET_LOCK_H_
#define GPUOS_DAEMON_CONTROL_SOCKET_LOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// An exclusive lock on SOCKET.lock, held by the process as long as this object lives; the kernel
// drops it when the process dies, so that a killed gpuosd leaves nothing to clean up by hand. The
// file holds the owner's pid.
//
// Thread-compatible. Does not block.
class SocketLock {
 public:
  // FAILED_PRECONDITION names the pid that holds the lock. NOT_FOUND or PERMISSION_DENIED if the
  // file cannot be made, with what to do.
  static absl::StatusOr<SocketLock> Acquire(const std::string& socket_path);

  SocketLock(SocketLock&&) = default;
  SocketLock& operator=(SocketLock&&) = delete;
  // Removes the file, then lets the lock go.
  ~SocketLock();

 private:
  SocketLock(std::string path, link::UniqueFd file);

  std::string path_;
  link::UniqueFd file_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SOCKET_LOCK_H_
