#include "daemon/executor/watchdog.h"

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class WatchdogTest : public ::testing::Test {
 protected:
  // Lets `ms` pass, checking every 10 ms, and returns the last answer.
  absl::Status Pass(int ms) {
    absl::Status status;
    for (int i = 0; i < ms / 10 && status.ok(); ++i) {
      now_ += milliseconds(10);
      ++signs_.clock_ns;
      status = watchdog_.Check(signs_, now_);
    }
    return status;
  }

  Watchdog watchdog_{milliseconds(100)};
  SignsOfLife signs_;
  Time now_ = Time(std::chrono::hours(5));
};

TEST_F(WatchdogTest, IsContentWhileNothingIsAwaited) { EXPECT_TRUE(Pass(5000).ok()); }

TEST_F(WatchdogTest, AccusesABatchThatMakesNoProgress) {
  signs_.batches_running = 1;
  EXPECT_TRUE(Pass(100).ok());
  const absl::Status status = Pass(20);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("for 100 ms with 1 batches"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("an operator does not end"));
}

TEST_F(WatchdogTest, TakesAnySignOfProgress) {
  signs_.batches_running = 1;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Pass(90).ok());
    ++signs_.progress;
    EXPECT_TRUE(Pass(90).ok());
    ++signs_.batches_completed;
    EXPECT_TRUE(Pass(90).ok());
    ++signs_.launches_finished;
  }
}

TEST_F(WatchdogTest, StartsAnewWhenSomethingIsAwaitedAgain) {
  signs_.batches_running = 1;
  EXPECT_TRUE(Pass(90).ok());
  signs_.batches_running = 0;
  EXPECT_TRUE(Pass(500).ok());
  signs_.batches_running = 1;
  EXPECT_TRUE(Pass(100).ok());
  EXPECT_FALSE(Pass(20).ok());
}

TEST_F(WatchdogTest, AccusesAWorkerThatDoesNotLeave) {
  signs_.leaving = true;
  const absl::Status status = Pass(200);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not leave"));
}

TEST_F(WatchdogTest, SaysWhenTheSchedulerStandsStill) {
  signs_.batches_running = 2;
  absl::Status status;
  for (int i = 0; i < 20; ++i) {
    now_ += milliseconds(10);
    status = watchdog_.Check(signs_, now_);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("scheduler stands still"));
}

TEST_F(WatchdogTest, DoesNotCountTimeInWhichTheExecutorItselfWasStopped) {
  signs_.batches_running = 1;
  EXPECT_TRUE(Pass(20).ok());
  now_ += std::chrono::hours(1);
  EXPECT_TRUE(watchdog_.Check(signs_, now_).ok());
  EXPECT_TRUE(Pass(50).ok());
  EXPECT_FALSE(Pass(50).ok());
}

}  // namespace
}  // namespace gpuos::executor
