#include "client/internal/socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/internal/target.h"

namespace gpuos::internal {
namespace {

constexpr absl::string_view kStart =
    "start it (systemctl start gpuosd) or set GPUOS_TARGET to where it listens";

absl::Status Unavailable(absl::string_view path, absl::string_view cause, absl::string_view cure) {
  return absl::UnavailableError(
      absl::StrCat("cannot reach gpuosd at ", path, ": ", cause, "; ", cure));
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

// A blocking connect(2) waits this long for a place in the listener's backlog.
void LimitConnect(int fd, absl::Time deadline) {
  const absl::Duration left = std::max(deadline - absl::Now(), absl::Milliseconds(1));
  const timeval limit = absl::ToTimeval(std::min(left, absl::Hours(1)));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

void LiftLimit(int fd) {
  const timeval none = {};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
}

}  // namespace

absl::Status ConnectError(absl::string_view path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Unavailable(path, "no such file", kStart);
    case ECONNREFUSED:
      return Unavailable(path, "connection refused, nothing listens there", kStart);
    case EAGAIN:
    case ETIMEDOUT:
      return Unavailable(path, "it takes no connections now, its backlog is full",
                         "look at its log (journalctl -u gpuosd) and try again");
    case EPROTOTYPE:
    case ENOTSOCK:
      return Unavailable(path, "it is not a socket of gpuosd", kStart);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(
          absl::StrCat("cannot reach gpuosd at ", path,
                       ": permission denied; join the group that owns the socket (ls -l ", path,
                       " shows it; usermod -aG GROUP USER, then log in again)"));
    default:
      return Unavailable(path, std::strerror(error), kStart);
  }
}

absl::StatusOr<UniqueFd> ConnectSocket(const std::string& path, int type, absl::Time deadline) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return ConnectError(path, errno);
  LimitConnect(fd.get(), deadline);
  const sockaddr_un address = AddressOf(path);
  int result;
  do {
    result = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  } while (result != 0 && errno == EINTR);
  if (result != 0) return ConnectError(path, errno);
  LiftLimit(fd.get());
  return fd;
}

}  // namespace gpuos::internal
