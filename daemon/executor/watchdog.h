// Tells a worker that hangs from one that works or has nothing to do. Pure.
#ifndef GPUOS_DAEMON_EXECUTOR_WATCHDOG_H_
#define GPUOS_DAEMON_EXECUTOR_WATCHDOG_H_

#include <cstdint>

#include "absl/status/status.h"
#include "daemon/executor/clock.h"

namespace gpuos::executor {

// What the executor sees of the worker from outside.
struct SignsOfLife {
  std::uint64_t progress = 0;           // Heartbeat: tiles finished.
  std::uint64_t clock_ns = 0;           // Heartbeat: the device's clock.
  std::uint64_t batches_completed = 0;  // Since the start.
  std::uint64_t launches_finished = 0;
  std::uint32_t batches_running = 0;  // Published and not completed.
  bool leaving = false;               // A PARK was published that is not obeyed.
};

// Thread-compatible. Does not block, reads no clock.
class Watchdog {
 public:
  // REQUIRES: limit > 0.
  explicit Watchdog(Duration limit) : limit_(limit) {}

  // OK, or DEADLINE_EXCEEDED with a sentence that says what hangs: for `limit` something was
  // awaited and no tile, batch or launch ended. Time counts only as far as Check is called often (a
  // fourth of the limit at most from call to call): an executor that was itself stopped accuses
  // nobody.
  absl::Status Check(const SignsOfLife& signs, Time now);

 private:
  absl::Status Sentence(const SignsOfLife& signs) const;

  Duration limit_;
  bool awaiting_ = false;
  Duration stalled_{0};
  Time last_check_{};
  SignsOfLife last_progress_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_WATCHDOG_H_
