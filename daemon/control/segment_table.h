// The segments of one session.
#ifndef GPUOS_DAEMON_CONTROL_SEGMENT_TABLE_H_
#define GPUOS_DAEMON_CONTROL_SEGMENT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "daemon/control/executor_client.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::control {

// Where a segment's memory comes from; kept so that a new executor can map it again.
struct SegmentSource {
  SharedFd memory_file;        // Null for CUDA memory.
  v1::CudaIpcMemory cuda_ipc;  // Empty for memory files.
};

// States: importing (the executor is asked) -> live -> releasing -> gone; batches may name live
// ones only. A live segment that a new executor could not map is lost: it can only be released.
//
// Thread-safe. Does not block.
class SegmentTable {
 public:
  struct Restorable {
    std::uint64_t id = 0;
    SegmentSource source;
  };

  // Adds `id` as importing. RESOURCE_EXHAUSTED with kMaxSegmentsOfSession.
  absl::Status Add(std::uint64_t id, SegmentSource source);
  void SetLive(std::uint64_t id, std::uint64_t size);
  // `why` a new executor does not have it; empty if it has.
  void SetLost(std::uint64_t id, const std::string& why);

  // NOT_FOUND for an id that is not a live segment of this session; FAILED_PRECONDITION if it is
  // lost.
  absl::Status CheckLive(std::uint64_t id) const;
  // From here on CheckLive fails. NOT_FOUND as in CheckLive.
  absl::Status BeginRelease(std::uint64_t id);
  // Forgets it and lets its descriptor go. No effect on an unknown id.
  void Remove(std::uint64_t id);
  // Forgets all.
  void Clear();

  // What a new executor has to map: the live ones.
  std::vector<Restorable> restorable() const;
  // Live ones, and their bytes.
  std::size_t count() const;
  std::uint64_t bytes() const;

 private:
  enum class State { kImporting, kLive, kReleasing };
  struct Segment {
    State state = State::kImporting;
    SegmentSource source;
    std::uint64_t size = 0;
    std::string lost;  // Why, if it is.
  };

  mutable absl::Mutex mutex_;
  std::map<std::uint64_t, Segment> segments_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SEGMENT_TABLE_H_
