// Descriptors that a client has sent and not yet registered.
#ifndef GPUOS_DAEMON_CONTROL_DESCRIPTOR_SHELF_H_
#define GPUOS_DAEMON_CONTROL_DESCRIPTOR_SHELF_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// Keeps at most kMaxKeptDescriptors of one session, by the client's cookies.
//
// Thread-safe. Owns what it keeps; what it refuses is closed. Does not block.
class DescriptorShelf {
 public:
  // ALREADY_EXISTS for a cookie in use; RESOURCE_EXHAUSTED when full; FAILED_PRECONDITION once
  // closed.
  absl::Status Keep(std::uint64_t cookie, link::UniqueFd descriptor);

  // NOT_FOUND if there is none of this cookie.
  absl::StatusOr<link::UniqueFd> Take(std::uint64_t cookie);

  // Closes every descriptor and takes no more.
  void Close();

 private:
  absl::Mutex mutex_;
  std::map<std::uint64_t, link::UniqueFd> descriptors_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_DESCRIPTOR_SHELF_H_
