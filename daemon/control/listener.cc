#include "daemon/control/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {
namespace {

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

absl::Status Failed(const char* what, const std::string& path, int error) {
  return absl::ErrnoToStatus(
      error, absl::StrCat("cannot ", what, " the socket ", path,
                          "; its directory must exist and be writable for this user, or choose "
                          "another --socket"));
}

// A stale socket is replaced; a file that is anything else is somebody's.
absl::Status CheckReplaceable(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0 || S_ISSOCK(found.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("there is a file at ", path,
                   " that is not a socket; move it away, or choose another --socket"));
}

}  // namespace

absl::Status CheckSocketPath(const std::string& path) {
  if (path.empty() || path[0] != '/') {
    return absl::InvalidArgumentError(absl::StrCat(
        "--socket \"", path, "\" is not an absolute path; give one that starts with /"));
  }
  if (path.size() > kMaxSocketPathBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the socket path ", path, " has ", path.size(), " bytes, more than the ",
        kMaxSocketPathBytes, " that a unix socket may have; choose a shorter --socket"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Listener> Listener::Bind(const Options& options) {
  // The temporary name is the longest that is bound.
  const std::string temporary = options.path + ".new";
  if (absl::Status status = CheckSocketPath(options.path); !status.ok()) return status;
  if (absl::Status status = CheckSocketPath(temporary); !status.ok()) return status;
  if (absl::Status status = CheckReplaceable(options.path); !status.ok()) return status;

  link::UniqueFd socket(::socket(AF_UNIX, options.type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Failed("create", options.path, errno);
  unlink(temporary.c_str());
  const sockaddr_un address = AddressOf(temporary);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return Failed("bind", options.path, errno);
  }
  absl::Cleanup remove_temporary = [&temporary] { unlink(temporary.c_str()); };
  if (chmod(temporary.c_str(), options.mode) != 0) return Failed("chmod", options.path, errno);
  if (listen(socket.get(), SOMAXCONN) != 0) return Failed("listen on", options.path, errno);
  if (rename(temporary.c_str(), options.path.c_str()) != 0) {
    return Failed("name", options.path, errno);
  }
  std::move(remove_temporary).Cancel();
  return Listener(options.path, /*owns_file=*/true, std::move(socket));
}

absl::StatusOr<Listener> Listener::Adopt(link::UniqueFd descriptor) {
  sockaddr_un address = {};
  socklen_t size = sizeof(address);
  int listening = 0;
  socklen_t listening_size = sizeof(listening);
  if (getsockname(descriptor.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getsockopt(descriptor.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &listening_size) != 0 ||
      address.sun_family != AF_UNIX || listening == 0 || address.sun_path[0] != '/') {
    return absl::InvalidArgumentError(
        "LISTEN_FDS names a descriptor that is not a listening unix socket with a path; the socket "
        "unit needs ListenStream=/a/path");
  }
  fcntl(descriptor.get(), F_SETFD, FD_CLOEXEC);
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
  const std::size_t length = strnlen(address.sun_path, sizeof(address.sun_path));
  return Listener(std::string(address.sun_path, length), /*owns_file=*/false,
                  std::move(descriptor));
}

Listener::Listener(std::string path, bool owns_file, link::UniqueFd socket)
    : path_(std::move(path)), owns_file_(owns_file), socket_(std::move(socket)) {}

Listener::~Listener() {
  // A moved-from listener has no socket.
  if (owns_file_ && socket_.get() >= 0) unlink(path_.c_str());
}

}  // namespace gpuos::control
