// All sessions of the daemon.
#ifndef GPUOS_DAEMON_CONTROL_SESSIONS_H_
#define GPUOS_DAEMON_CONTROL_SESSIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/control/executor_client.h"
#include "daemon/control/peer.h"
#include "daemon/control/session.h"

namespace gpuos::control {

// A registry, no I/O but getrandom: ids, tokens, ownership. Ids are never used twice in the
// daemon's life.
//
// Thread-safe. Does not block.
class Sessions {
 public:
  // Adds a session in state opening, which Find does not yet show. INVALID_ARGUMENT for a client
  // name that is too long or not printable; RESOURCE_EXHAUSTED with kMaxSessions.
  absl::StatusOr<std::shared_ptr<Session>> Add(PeerCredentials owner, const std::string& device,
                                               const std::string& client_name,
                                               ExecutorClient* executor);

  // The session, if `token` is its own and `uid` its owner's. NOT_FOUND for an id that is none (any
  // more), UNAUTHENTICATED for another token, PERMISSION_DENIED for another user who knows it.
  absl::StatusOr<std::shared_ptr<Session>> Find(std::uint64_t id, absl::string_view token,
                                                uid_t uid) const;

  // By id alone, for the daemon's own use; null if there is none.
  std::shared_ptr<Session> Get(std::uint64_t id) const;

  void Remove(std::uint64_t id);

  // By id, those still opening included.
  std::vector<std::shared_ptr<Session>> all() const;
  std::size_t count() const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SESSIONS_H_
