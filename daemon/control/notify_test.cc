#include "daemon/control/notify.h"

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

TEST(WatchdogPeriodTest, IsHalfOfWhatTheManagerWaits) {
  EXPECT_EQ(WatchdogPeriod("3000000", nullptr, 7), absl::Milliseconds(1500));
  EXPECT_EQ(WatchdogPeriod("3000000", "7", 7), absl::Milliseconds(1500));
}

TEST(WatchdogPeriodTest, IsNothingWhereItIsUnsetBrokenOrForAnother) {
  EXPECT_FALSE(WatchdogPeriod(nullptr, nullptr, 7).has_value());
  EXPECT_FALSE(WatchdogPeriod("soon", nullptr, 7).has_value());
  EXPECT_FALSE(WatchdogPeriod("0", nullptr, 7).has_value());
  EXPECT_FALSE(WatchdogPeriod("3000000", "8", 7).has_value());
}

TEST(NotifierTest, NoManagerOrABrokenNameIsNoError) {
  Notifier("").Send("READY=1");
  Notifier("/nowhere/notify").Send("READY=1");
  Notifier(std::string(200, 'x')).Send("READY=1");
}

}  // namespace
}  // namespace gpuos::control
