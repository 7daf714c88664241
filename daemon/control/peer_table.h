// Which process each gRPC connection comes from.
#ifndef GPUOS_DAEMON_CONTROL_PEER_TABLE_H_
#define GPUOS_DAEMON_CONTROL_PEER_TABLE_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/control/peer.h"

namespace gpuos::control {

// gRPC names a connection that we accepted by its descriptor ("fd:17"); this says whose that is. A
// number is reused only after many others (see GrpcAcceptor), so that a call of a connection that
// has just closed cannot be taken for one of the next.
//
// Thread-safe.
class PeerTable {
 public:
  void Add(int fd, PeerCredentials peer);
  void Remove(int fd);
  std::size_t size() const;

  // `peer` is grpc::ServerContext::peer(). UNAUTHENTICATED for a connection that is not in the
  // table.
  absl::StatusOr<PeerCredentials> Find(absl::string_view peer) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<int, PeerCredentials> peers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_PEER_TABLE_H_
