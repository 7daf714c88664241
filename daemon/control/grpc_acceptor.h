// Takes gRPC connections from gpuosd's own socket.
#ifndef GPUOS_DAEMON_CONTROL_GRPC_ACCEPTOR_H_
#define GPUOS_DAEMON_CONTROL_GRPC_ACCEPTOR_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>

#include "absl/status/status.h"
#include "daemon/control/connection_source.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/peer.h"
#include "daemon/control/peer_table.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// Accepts, notes who connected in the PeerTable, and gives the descriptor away (to gRPC). gRPC does
// not say when it closes one, so those that have gone are looked for, by the inode that a number
// had, when their count has doubled. Beyond `max_connections` a client is told so in HTTP/2's own
// words (GOAWAY) and closed.
//
// Ownership: loop, listening descriptor and table outlive it. Thread: the loop's, all of it. Does
// not block.
class GrpcAcceptor {
 public:
  // Takes ownership of the descriptor.
  using HandOver = std::function<void(int fd)>;

  struct Options {
    int listening = -1;
    std::size_t max_connections = 0;
    HandOver hand_over;
  };

  GrpcAcceptor(EventLoop* loop, PeerTable* peers, Options options);
  GrpcAcceptor(const GrpcAcceptor&) = delete;
  GrpcAcceptor& operator=(const GrpcAcceptor&) = delete;

  absl::Status Start() { return source_.Start(); }
  // Takes no more; those there are live on.
  void Stop() { source_.Stop(); }

 private:
  void Accept(link::UniqueFd connection, PeerCredentials peer);
  // Forgets connections that have gone.
  void Sweep();

  PeerTable* const peers_;
  const Options options_;
  // The socket's inode by the descriptor that gRPC has.
  std::map<int, ino_t> connections_;
  std::size_t sweep_at_;
  // The lowest number for the next descriptor; goes up and around.
  int next_number_;
  ConnectionSource source_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_GRPC_ACCEPTOR_H_
