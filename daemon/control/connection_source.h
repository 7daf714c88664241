// Accepts connections of a listening socket on an event loop.
#ifndef GPUOS_DAEMON_CONTROL_CONNECTION_SOURCE_H_
#define GPUOS_DAEMON_CONTROL_CONNECTION_SOURCE_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/peer.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// Hands every connection, non-blocking and close-on-exec, to a callback together with who
// connected. When the process has no descriptors left it pauses for a tenth of a second rather than
// spin on a connection that it cannot take.
//
// Ownership: the loop and the listening descriptor outlive it. Thread: the loop's, all of it. Does
// not block.
class ConnectionSource {
 public:
  using Callback = std::function<void(link::UniqueFd, PeerCredentials)>;

  ConnectionSource(EventLoop* loop, int listening, Callback callback);
  ConnectionSource(const ConnectionSource&) = delete;
  ConnectionSource& operator=(const ConnectionSource&) = delete;
  ~ConnectionSource();

  absl::Status Start();
  void Stop();

 private:
  void AcceptAll();
  void Pause();

  EventLoop* const loop_;
  const int listening_;
  const Callback callback_;
  EventLoop::WatchId watch_ = 0;
  bool stopped_ = false;
  // Empties when this goes, so that a pause that ends later finds nobody.
  std::shared_ptr<ConnectionSource*> self_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_CONNECTION_SOURCE_H_
