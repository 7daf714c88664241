// What one session holds in the executor: segments, programs, and its batches in order.
#ifndef GPUOS_DAEMON_EXECUTOR_SESSION_H_
#define GPUOS_DAEMON_EXECUTOR_SESSION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "daemon/executor/batch.h"
#include "daemon/executor/gate.h"
#include "daemon/executor/held_segment.h"
#include "daemon/executor/program_memory.h"

namespace gpuos::executor {

// An answer that is due.
struct Finished {
  Ticket ticket = 0;
  absl::Status status;
};

// Batches are published in the order in which they came, each only when it conflicts with none that
// is published and not finished, and are answered in that order too.
//
// Thread-compatible; nothing blocks. Refusals are a sentence and change nothing. Must not be
// destroyed while it has published batches.
class Session {
 public:
  struct Limits {
    std::uint32_t segments = 4096;
    std::uint32_t programs = 4096;
    // Batches that are not answered; bindings of all that are not published yet.
    std::uint32_t unanswered_batches = 16384;
    std::uint64_t waiting_bindings = std::uint64_t{1} << 20;
  };
  struct Counters {
    std::uint64_t batches_submitted = 0;
    std::uint64_t batches_completed = 0;
    std::uint64_t segment_bytes = 0;
  };

  Session(std::uint64_t id, const Limits& limits) : id_(id), limits_(limits) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::uint64_t id() const { return id_; }
  const Counters& counters() const { return counters_; }

  // ALREADY_EXISTS, RESOURCE_EXHAUSTED. To be asked before the device imports anything.
  absl::Status CheckNewSegment(std::uint64_t segment) const;
  // REQUIRES: CheckNewSegment(segment) was OK.
  void AddSegment(std::uint64_t segment, const device::Segment& imported);
  // New batches cannot name it any more; unfinished ones still hold it. NOT_FOUND.
  absl::StatusOr<HeldSegment> TakeSegment(std::uint64_t segment);
  std::vector<HeldSegment> TakeAllSegments();
  std::uint32_t segments() const { return static_cast<std::uint32_t>(segments_.size()); }

  absl::Status CheckNewProgram(std::uint64_t program) const;
  void AddProgram(std::uint64_t program, std::shared_ptr<const LoadedProgram> loaded);
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> TakeProgram(std::uint64_t program);
  void DropAllPrograms() { programs_.clear(); }
  std::uint32_t programs() const { return static_cast<std::uint32_t>(programs_.size()); }

  // Takes a batch through the gate and lets it wait. NOT_FOUND for the program, RESOURCE_EXHAUSTED
  // when too much waits, and the gate's refusals.
  absl::Status Submit(Ticket ticket, std::uint64_t program, absl::Span<const Binding> bindings);

  // The batch that is next to be published, or nullptr.
  const Batch* next() const { return waiting_.empty() ? nullptr : waiting_.front().get(); }
  // Whether next() conflicts with an unfinished batch. REQUIRES: next() is not nullptr.
  bool NextConflicts();
  // Counts next() among the published. REQUIRES: as above, and it does not conflict.
  Batch& TakeNext();
  // Marks a published batch as finished; it lets go of what it held.
  void Complete(Batch& batch, absl::Status result);
  // Moves the answers that are due to `finished`: of batches before which all are finished.
  void TakeAnswers(std::vector<Finished>& finished);
  // Drops the batches that wait; their answers are `why`.
  void AbortWaiting(const absl::Status& why, std::vector<Finished>& finished);

  std::uint32_t waiting() const { return static_cast<std::uint32_t>(waiting_.size()); }
  // No batch is published and unanswered.
  bool idle() const { return published_.empty(); }

 private:
  const std::uint64_t id_;
  const Limits limits_;
  Counters counters_;
  std::unordered_map<std::uint64_t, HeldSegment> segments_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const LoadedProgram>> programs_;
  std::deque<std::unique_ptr<Batch>> waiting_;
  std::uint64_t waiting_bindings_ = 0;
  // In the order of publication; completed ones stay until those before them are completed.
  std::deque<std::unique_ptr<Batch>> published_;
  // Found to conflict with next(); only when it has completed the others are looked at again.
  const Batch* conflict_ = nullptr;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_SESSION_H_
