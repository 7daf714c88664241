#include "daemon/control/backoff.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

TEST(BackoffTest, AtOnceThenDoublingUpToHalfAMinute) {
  Backoff backoff;
  const int expected[] = {0, 1, 2, 4, 8, 16, 30, 30};
  for (const int seconds : expected) {
    EXPECT_EQ(backoff.Next(absl::Seconds(1)), absl::Seconds(seconds));
  }
}

TEST(BackoffTest, StartsOverAfterOneThatWasReadyForLong) {
  Backoff backoff;
  for (int i = 0; i < 5; ++i) backoff.Next(absl::ZeroDuration());
  EXPECT_EQ(backoff.Next(absl::Seconds(10)), absl::ZeroDuration());
  EXPECT_EQ(backoff.Next(absl::ZeroDuration()), absl::Seconds(1));
}

}  // namespace
}  // namespace gpuos::control
