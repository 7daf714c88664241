// Telling the service manager how it goes (sd_notify).
#ifndef GPUOS_DAEMON_CONTROL_NOTIFY_H_
#define GPUOS_DAEMON_CONTROL_NOTIFY_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gpuos::control {

// One datagram a message to the socket that the service manager names, a path or, with a leading
// '@', an abstract name. Without one, nothing is sent. A manager that does not listen is not an
// error: there is nobody else to tell.
//
// Thread-safe. Does not block.
class Notifier {
 public:
  // `socket` is $NOTIFY_SOCKET, empty if unset.
  explicit Notifier(std::string socket) : socket_(std::move(socket)) {}

  // Lines such as "READY=1" or "STATUS=...", separated by newlines.
  void Send(absl::string_view lines) const;

 private:
  const std::string socket_;
};

// How often WATCHDOG=1 has to be sent: half of $WATCHDOG_USEC; nothing if that is unset, not a
// number, or meant for another process ($WATCHDOG_PID). Null stands for unset. Pure.
std::optional<absl::Duration> WatchdogPeriod(const char* watchdog_usec, const char* watchdog_pid,
                                             int own_pid);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_NOTIFY_H_
