// What the executor counts. Everything starts at zero with the executor.
#ifndef GPUOS_DAEMON_EXECUTOR_COUNTERS_H_
#define GPUOS_DAEMON_EXECUTOR_COUNTERS_H_

#include <cstdint>

namespace gpuos::executor {

// Pings are not counted.
struct BatchCounters {
  std::uint64_t admitted = 0;
  std::uint64_t completed = 0;  // Failed ones included.
  std::uint64_t failed = 0;
  std::uint64_t tasks_completed = 0;
};

// Fields mean what v1.ExecutorCounters says.
struct Counters {
  std::uint64_t worker_launches = 0;
  std::uint64_t worker_parks = 0;
  bool worker_resident = false;
  BatchCounters batches;
  std::uint32_t batches_in_flight = 0;
  std::uint32_t batches_queued = 0;
  std::uint32_t sessions = 0;
  std::uint32_t segments = 0;
  std::uint64_t segment_bytes = 0;
  std::uint32_t programs = 0;
  std::uint64_t arena_bytes_used = 0;
  std::uint64_t arena_bytes_total = 0;
  std::uint32_t releases_pending = 0;
  std::uint64_t heartbeat_age_us = 0;
};

// Fields mean what v1.SessionCounters says.
struct SessionCounters {
  std::uint64_t session = 0;
  std::uint32_t segments = 0;
  std::uint64_t segment_bytes = 0;
  std::uint32_t programs = 0;
  std::uint64_t batches_submitted = 0;
  std::uint64_t batches_completed = 0;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_COUNTERS_H_
