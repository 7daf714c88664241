// The operators for tests, on the host.
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/ops/operator_tester.h"

namespace gpuos::ops {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(TestRendezvous, TwoThatWaitForEachOtherMeet) {
  TestTensor<std::int64_t> flags(Dense({2}));
  TestTensor<bool> left(Dense({1}));
  TestTensor<bool> right(Dense({1}));
  absl::Status other;
  std::thread thread([&] {
    other = RunOperator("test.rendezvous", {right.operand(), flags.operand()},
                        {{Int(1), Int(0), Int(10000)}, 0});
  });
  EXPECT_EQ(RunOperator("test.rendezvous", {left.operand(), flags.operand()},
                        {{Int(0), Int(1), Int(10000)}, 0}),
            absl::OkStatus());
  thread.join();
  EXPECT_EQ(other, absl::OkStatus());
  EXPECT_TRUE(left.Get(0));
  EXPECT_TRUE(right.Get(0));
}

TEST(TestRendezvous, OneAloneGivesUpInTime) {
  TestTensor<std::int64_t> flags(Dense({2}));
  TestTensor<bool> out(Dense({1}), true);
  EXPECT_EQ(RunOperator("test.rendezvous", {out.operand(), flags.operand()},
                        {{Int(0), Int(1), Int(20)}, 0}),
            absl::OkStatus());
  EXPECT_FALSE(out.Get(0));
  EXPECT_EQ(flags.Values(), (std::vector<std::int64_t>{1, 0}));
}

TEST(TestRendezvous, FlagsThatDoNotExistFailIt) {
  TestTensor<std::int64_t> flags(Dense({2}));
  TestTensor<bool> out(Dense({1}));
  for (std::int64_t mine : {-1, 2}) {
    const absl::Status status = RunOperator("test.rendezvous", {out.operand(), flags.operand()},
                                            {{Int(mine), Int(1), Int(20)}, 0});
    EXPECT_EQ(status.message(), "code 1, task 7");
  }
  EXPECT_TRUE(flags.PaddingIsIntact());
}

TEST(TestFail, ReportsItsCodeAndTask) {
  const absl::Status status = RunOperator("test.fail", {}, {{Int(42)}, 0});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), "code 42, task 7");
}

TEST(TestSpin, TakesItsTime) {
  const auto start = steady_clock::now();
  EXPECT_EQ(RunOperator("test.spin", {}, {{Int(30)}, 0}), absl::OkStatus());
  EXPECT_GE(steady_clock::now() - start, milliseconds(30));
}

TEST(TestSpin, ANegativeTimeIsNone) {
  EXPECT_EQ(RunOperator("test.spin", {}, {{Int(-1)}, 0}), absl::OkStatus());
}

TEST(TestOutOfBounds, WritesOneByteBeyondItsOutput) {
  std::vector<std::byte> bytes(32, std::byte{7});
  const abi::View view = ViewOf(abi::DType::kF32, Dense({4}));
  EXPECT_EQ(RunOperator("test.out_of_bounds", {{view, &bytes}}, {{Int(3)}, 0}), absl::OkStatus());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i], std::byte(i == 16 + 3 ? 0 : 7)) << i;
  }
}

TEST(TestTrapDeathTest, EndsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(RunOperator("test.trap", {}).IgnoreError(), "");
}

}  // namespace
}  // namespace gpuos::ops
