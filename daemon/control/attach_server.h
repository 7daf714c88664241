// Serves the attach socket: sessions are held open by it, and descriptors come over it.
#ifndef GPUOS_DAEMON_CONTROL_ATTACH_SERVER_H_
#define GPUOS_DAEMON_CONTROL_ATTACH_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/control/attach_channel.h"
#include "daemon/control/connection_source.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/peer.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/attach.pb.h"

namespace gpuos::control {

// What the attach server tells the rest. Called on the loop's thread; must not block.
class AttachDelegate {
 public:
  virtual ~AttachDelegate() = default;

  // A client shows its token. An error is sent to it and the connection closed.
  virtual absl::Status Attach(const v1::AttachHello& hello, PeerCredentials peer,
                              std::shared_ptr<AttachChannel> channel) = 0;
  // A descriptor of an attached client. An error is sent to it; the connection stays.
  virtual absl::Status KeepDescriptor(std::uint64_t session, std::uint64_t cookie,
                                      link::UniqueFd descriptor) = 0;
  // The connection of an attached session has ended; `why` is half a sentence.
  virtual void Detached(std::uint64_t session, const std::string& why) = 0;
};

// A connection says AttachHello first, within kAttachDeadline, then sends descriptors. It ends when
// the client closes it, when the client's process ends (its pidfd: a forked child may still hold
// the socket), or when a packet is not what attach.proto says.
//
// Ownership: loop, listening descriptor and delegate outlive it. Thread: the loop's, all of it.
// Does not block.
class AttachServer {
 public:
  AttachServer(EventLoop* loop, int listening, std::size_t max_connections,
               AttachDelegate* delegate);
  AttachServer(const AttachServer&) = delete;
  AttachServer& operator=(const AttachServer&) = delete;
  // Closes every connection; the delegate hears nothing of it.
  ~AttachServer();

  absl::Status Start() { return source_.Start(); }
  void Stop() { source_.Stop(); }

 private:
  struct Connection {
    std::shared_ptr<AttachChannel> channel;
    PeerCredentials peer;
    std::uint64_t session = 0;  // 0 before AttachHello.
    EventLoop::WatchId socket_watch = 0;
    link::UniqueFd pidfd;
    EventLoop::WatchId pidfd_watch = 0;
  };

  void Accept(link::UniqueFd socket, PeerCredentials peer);
  void Read(std::uint64_t id);
  // Returns why the connection has to end, or OK.
  absl::Status Handle(std::uint64_t id, AttachPacket packet);
  absl::Status HandleHello(std::uint64_t id, const v1::AttachHello& hello);
  absl::Status HandleDescriptor(const Connection& connection, std::uint64_t cookie,
                                link::UniqueFd descriptor);
  absl::Status WatchProcess(std::uint64_t id);
  void Close(std::uint64_t id, const std::string& why);
  void Unwatch(const Connection& connection);

  EventLoop* const loop_;
  const std::size_t max_connections_;
  AttachDelegate* const delegate_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_id_ = 1;
  ConnectionSource source_;
  // Empties when this goes, so that a deadline that fires later finds nobody.
  std::shared_ptr<AttachServer*> self_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_ATTACH_SERVER_H_
