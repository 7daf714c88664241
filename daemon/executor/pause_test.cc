#include "daemon/executor/pause.h"

#include <chrono>
#include <optional>

#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(Pause, IsEndlessWhenNothingRunsAndNoWorkerIsThere) {
  EXPECT_EQ(PauseBeforeNextLook({}), std::nullopt);
}

TEST(Pause, LooksAFewTimesASecondAtAnIdleWorker) {
  EXPECT_EQ(PauseBeforeNextLook({.resident = true, .device_signals = true}), kHeartbeatPause);
  EXPECT_EQ(PauseBeforeNextLook({.resident = true, .idle = milliseconds(5)}), kHeartbeatPause);
}

TEST(Pause, SpinsForACompletionThatNobodySignalsThenSleepsEverLonger) {
  const auto pause = [](Duration idle) {
    return PauseBeforeNextLook({.awaiting = true, .resident = true, .idle = idle});
  };
  EXPECT_EQ(pause(microseconds(0)), Duration(0));
  EXPECT_EQ(pause(microseconds(49)), Duration(0));
  EXPECT_EQ(pause(microseconds(80)), microseconds(10));
  EXPECT_EQ(pause(milliseconds(4)), microseconds(500));
  EXPECT_EQ(pause(std::chrono::hours(1)), kLongestPollPause);
}

TEST(Pause, WaitsForTheSignalWhereThereIsOneAndForTheWatchdog) {
  EXPECT_EQ(PauseBeforeNextLook({.awaiting = true, .resident = true, .device_signals = true}),
            kWatchdogPause);
}

TEST(Pause, NeverOversleepsTheWakeUpAndIsNeverNegative) {
  EXPECT_EQ(PauseBeforeNextLook({.until_wake = microseconds(50)}), microseconds(50));
  EXPECT_EQ(PauseBeforeNextLook({.resident = true, .until_wake = microseconds(50)}),
            microseconds(50));
  EXPECT_EQ(PauseBeforeNextLook({.resident = true, .until_wake = std::chrono::hours(1)}),
            kHeartbeatPause);
  EXPECT_EQ(PauseBeforeNextLook({.until_wake = microseconds(-3)}), Duration(0));
}

}  // namespace
}  // namespace gpuos::executor
