// Which batches of one session are done, which failed, and who waits for them.
#ifndef GPUOS_DAEMON_CONTROL_BATCH_LEDGER_H_
#define GPUOS_DAEMON_CONTROL_BATCH_LEDGER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace gpuos::control {

// Numbers a session's batches 1, 2, ... and remembers what is needed to answer WaitBatch:
// - A failure is told by the call that submitted the batch if it waits, else by the first WaitBatch
//   whose value reaches it. That wait reports the first failure up to its value and forgets the
//   others up to there, so that one failure does not fail every later wait. A wait for the same
//   value hears the same again: the first may have expired on its way back.
// - At most kMaxKeptFailures failures are remembered, the latest, besides the very first; what lies
//   between is only counted, and the wait that reports the first says so.
//
// Thread-safe. Callbacks run without the lock, on the thread of Done, Wait or End, and must not
// block.
class BatchLedger {
 public:
  using WaitId = std::uint64_t;
  using Callback = std::function<void(absl::Status)>;

  // Takes the next number. RESOURCE_EXHAUSTED with kMaxBatchesInFlight not done.
  absl::StatusOr<std::uint64_t> Begin();

  // The batch is done. `told`: its submitter was told, so that a failure need not be kept.
  void Done(std::uint64_t value, const absl::Status& result, bool told);

  // Calls back once batches 1 ... value are done, maybe before returning. The result's id is for
  // CancelWait. INVALID_ARGUMENT if `value` is 0 or was not submitted; RESOURCE_EXHAUSTED with
  // kMaxWaits waiting.
  absl::StatusOr<WaitId> Wait(std::uint64_t value, Callback callback);

  // Drops a wait; its callback is destroyed without a call. No effect if it was called already.
  void CancelWait(WaitId id);

  // Answers every wait with `reason`, and those that come later.
  void End(const absl::Status& reason);

  struct Counts {
    std::uint64_t submitted = 0;
    std::uint64_t completed = 0;  // Well or not.
  };
  Counts counts() const;

 private:
  struct Waiter {
    std::uint64_t value = 0;
    Callback callback;
  };
  // Failures dropped from `failures_` for want of room, the earliest first.
  struct Dropped {
    std::uint64_t count = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    absl::Status first_result;
  };
  struct Answer {
    Callback callback;
    absl::Status result;
  };

  bool IsReached(std::uint64_t value) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepFailure(std::uint64_t value, const absl::Status& result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What a wait for `value` was told, else the first failure up to there; forgets the others.
  absl::Status TakeFailure(std::uint64_t value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TakeDropped(std::uint64_t value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Answer> TakeReached() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::uint64_t> in_flight_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, absl::Status> failures_ ABSL_GUARDED_BY(mutex_);
  Dropped dropped_ ABSL_GUARDED_BY(mutex_);
  // Failures told, by the value that was waited for; at most kMaxKeptFailures, the latest values.
  std::map<std::uint64_t, absl::Status> told_ ABSL_GUARDED_BY(mutex_);
  std::map<WaitId, Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  WaitId next_wait_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_BATCH_LEDGER_H_
