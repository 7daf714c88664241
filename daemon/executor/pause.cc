#include "daemon/executor/pause.h"

#include <algorithm>

namespace gpuos::executor {
namespace {

std::optional<Duration> LongestPause(const PauseInput& input) {
  if (input.awaiting && !input.device_signals) {
    if (input.idle < kSpin) return Duration(0);
    return std::min(input.idle / 8, kLongestPollPause);
  }
  if (input.awaiting) return kWatchdogPause;
  if (input.resident) return kHeartbeatPause;
  return std::nullopt;
}

}  // namespace

std::optional<Duration> PauseBeforeNextLook(const PauseInput& input) {
  const std::optional<Duration> longest = LongestPause(input);
  if (!input.until_wake) return longest;
  const Duration wake = std::max(*input.until_wake, Duration(0));
  return longest ? std::min(*longest, wake) : wake;
}

}  // namespace gpuos::executor
