// A batch on its way through the executor.
#ifndef GPUOS_DAEMON_EXECUTOR_BATCH_H_
#define GPUOS_DAEMON_EXECUTOR_BATCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "daemon/executor/gate.h"
#include "daemon/executor/held_segment.h"
#include "daemon/executor/program_memory.h"

namespace gpuos::executor {

// Chosen by whoever asks, to know the answer by; the executor gives it no meaning.
using Ticket = std::uint64_t;

// Made when the gate has let it through; waits in its session; is published; completes. Its session
// owns it until it is answered.
struct Batch {
  Ticket ticket = 0;
  std::uint64_t session = 0;
  CheckedBatch checked;
  // Kept so that neither program nor memory goes away below the worker; let go at completion.
  std::shared_ptr<const LoadedProgram> program;
  std::vector<HeldSegment> segments;

  bool completed = false;
  absl::Status result;  // Once completed.
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_BATCH_H_
