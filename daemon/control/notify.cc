#include "daemon/control/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/numbers.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

void Notifier::Send(absl::string_view lines) const {
  sockaddr_un address = {};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  // An abstract name starts with a zero byte and has the length that is given.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const link::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  (void)sendto(socket.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), size);
}

std::optional<absl::Duration> WatchdogPeriod(const char* watchdog_usec, const char* watchdog_pid,
                                             int own_pid) {
  std::int64_t microseconds = 0;
  if (watchdog_usec == nullptr || !absl::SimpleAtoi(watchdog_usec, &microseconds)) {
    return std::nullopt;
  }
  int pid = 0;
  if (watchdog_pid != nullptr && (!absl::SimpleAtoi(watchdog_pid, &pid) || pid != own_pid)) {
    return std::nullopt;
  }
  if (microseconds <= 0) return std::nullopt;
  return absl::Microseconds(microseconds) / 2;
}

}  // namespace gpuos::control
