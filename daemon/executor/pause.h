// How long the executor's loop may sleep before it looks again. Pure.
#ifndef GPUOS_DAEMON_EXECUTOR_PAUSE_H_
#define GPUOS_DAEMON_EXECUTOR_PAUSE_H_

#include <chrono>
#include <optional>

#include "daemon/executor/clock.h"

namespace gpuos::executor {

struct PauseInput {
  // The worker owes a completion or its leave.
  bool awaiting = false;
  // A worker is on the device.
  bool resident = false;
  // Completions make a descriptor readable, so that nobody has to look for them.
  bool device_signals = false;
  // Since the loop last found anything to do.
  Duration idle{0};
  // When the core wants to be stepped, from now; negative if that is past.
  std::optional<Duration> until_wake;
};

// Where completions must be looked for: without pause at first, because most batches end within
// microseconds, then at pauses that grow with the time waited, so that a long batch costs little.
inline constexpr Duration kSpin = std::chrono::microseconds(50);
inline constexpr Duration kLongestPollPause = std::chrono::milliseconds(1);
// So often the watchdog looks while something is awaited, and at the heartbeat of an idle worker.
inline constexpr Duration kWatchdogPause = std::chrono::milliseconds(100);
inline constexpr Duration kHeartbeatPause = std::chrono::milliseconds(250);

// nullopt: until something happens. Never negative.
std::optional<Duration> PauseBeforeNextLook(const PauseInput& input);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_PAUSE_H_
