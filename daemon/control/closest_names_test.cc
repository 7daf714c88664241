#include "daemon/control/closest_names.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

const std::vector<std::string> kNames = {"add", "sub", "softmax", "sum", "argmax"};

TEST(ClosestNamesTest, NearestComeFirstAndEqualsByAlphabet) {
  EXPECT_EQ(ClosestNames("sofmax", kNames, 1), std::vector<std::string>{"softmax"});
  EXPECT_EQ(ClosestNames("su", kNames, 2), (std::vector<std::string>{"sub", "sum"}));
}

TEST(ClosestNamesTest, LongAndEmptyNamesAreFine) {
  EXPECT_EQ(ClosestNames("", kNames, 1), std::vector<std::string>{"add"});
  EXPECT_EQ(ClosestNames(std::string(1 << 20, 'x'), kNames, 9).size(), kNames.size());
  EXPECT_TRUE(ClosestNames("add", {}, 3).empty());
}

}  // namespace
}  // namespace gpuos::control
