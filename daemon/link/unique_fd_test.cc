#include "daemon/link/unique_fd.h"

#include <fcntl.h>

#include <utility>

#include "daemon/link/link_test_util.h"
#include "gtest/gtest.h"

namespace gpuos::link {
namespace {

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesWhatItHoldsWhenItGoes) {
  int number = -1;
  {
    const UniqueFd fd = OpenNull();
    number = fd.get();
    ASSERT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, MovingHandsTheDescriptorOver) {
  UniqueFd first = OpenNull();
  const int number = first.get();
  UniqueFd second(std::move(first));
  EXPECT_EQ(second.get(), number);
  UniqueFd third = OpenNull();
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), number);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_TRUE(IsOpen(number));
}

TEST(UniqueFd, ReleaseLeavesTheDescriptorOpen) {
  UniqueFd fd = OpenNull();
  const int number = fd.release();
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(IsOpen(number));
  UniqueFd closes_it(number);
}

TEST(UniqueFd, NegativeNumbersMeanNone) {
  UniqueFd fd(-22);
  EXPECT_FALSE(fd.valid());
  fd.reset(-5);
  EXPECT_EQ(fd.get(), -1);
}

}  // namespace
}  // namespace gpuos::link
