// A listening unix socket at a path.
#ifndef GPUOS_DAEMON_CONTROL_LISTENER_H_
#define GPUOS_DAEMON_CONTROL_LISTENER_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// Owns a listening, non-blocking, close-on-exec socket and the file that names it. The file appears
// ready (bound, with its mode) by a rename over what lay there, so that a stale socket of a killed
// gpuosd is replaced and a client never meets a half-made one. REQUIRES: the caller holds
// the path's SocketLock for as long as this lives.
//
// Thread-compatible. Does not block.
class Listener {
 public:
  struct Options {
    std::string path;
    // SOCK_STREAM or SOCK_SEQPACKET.
    int type = 0;
    mode_t mode = 0660;
  };

  // INVALID_ARGUMENT for a path that a unix socket cannot have (CheckSocketPath);
  // FAILED_PRECONDITION if a file lies there that is not a socket: it stays; otherwise the
  // kernel's reason with the path and what to do. On failure nothing is left behind.
  static absl::StatusOr<Listener> Bind(const Options& options);

  // Takes over a socket that systemd listens on for us; its file stays systemd's. INVALID_ARGUMENT
  // if `descriptor` is not a listening unix socket with a path.
  static absl::StatusOr<Listener> Adopt(link::UniqueFd descriptor);

  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  // Removes the file that Bind made.
  ~Listener();

  int descriptor() const { return socket_.get(); }
  const std::string& path() const { return path_; }

 private:
  Listener(std::string path, bool owns_file, link::UniqueFd socket);

  std::string path_;
  bool owns_file_;
  link::UniqueFd socket_;
};

// INVALID_ARGUMENT if `path` is empty, relative or longer than 107 bytes.
absl::Status CheckSocketPath(const std::string& path);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_LISTENER_H_
