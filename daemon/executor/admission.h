// Which of the waiting batches is published next. Pure: a snapshot in, a decision out.
#ifndef GPUOS_DAEMON_EXECUTOR_ADMISSION_H_
#define GPUOS_DAEMON_EXECUTOR_ADMISSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace gpuos::executor {

// The oldest batch that a session has waiting. Younger ones of the session wait behind it, so that
// a session's batches are published in the order in which they came.
struct Candidate {
  std::uint64_t session = 0;
  // Its extents conflict with a batch of its session that is published and not finished.
  bool conflicts = false;
  std::uint32_t ready_items = 0;
  // Its state finds room in the arena now.
  bool state_fits = true;
};

struct AdmissionSnapshot {
  // Sorted by session, each once.
  absl::Span<const Candidate> candidates;
  // The session whose turn it was last.
  std::uint64_t last_session = 0;
  std::uint32_t windows_free = 0;
  // Room in the worker's ready queue.
  std::uint64_t ready_free = 0;
};

// Index of the candidate to publish now, or nullopt to wait until a batch finishes.
//
// Sessions take turns. A batch that waits for one of its own session lets the others pass. One that
// waits for room shared by all (window, ready queue, arena) keeps the turn and nobody passes, so
// that a large batch is not starved by small ones; room comes because published batches finish.
std::optional<std::size_t> NextToPublish(const AdmissionSnapshot& snapshot);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_ADMISSION_H_
