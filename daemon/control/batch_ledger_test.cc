#include "daemon/control/batch_ledger.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "daemon/control/limits.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

class BatchLedgerTest : public testing::Test {
 protected:
  // The result of a wait, or nothing while it waits.
  BatchLedger::WaitId Wait(std::uint64_t value, std::optional<absl::Status>* result) {
    return ledger_.Wait(value, [result](absl::Status status) { *result = std::move(status); })
        .value();
  }
  absl::Status WaitNow(std::uint64_t value) {
    std::optional<absl::Status> result;
    Wait(value, &result);
    return result.value_or(absl::UnknownError("waits"));
  }
  void Submit(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(ledger_.Begin().ok());
  }

  BatchLedger ledger_;
};

TEST_F(BatchLedgerTest, NumbersFromOneUpwards) {
  EXPECT_EQ(ledger_.Begin().value(), 1u);
  EXPECT_EQ(ledger_.Begin().value(), 2u);
  EXPECT_EQ(ledger_.counts().submitted, 2u);
  EXPECT_EQ(ledger_.counts().completed, 0u);
}

TEST_F(BatchLedgerTest, AWaitIsAnsweredWhenAllUpToItsValueAreDone) {
  Submit(3);
  std::optional<absl::Status> two, three;
  Wait(2, &two);
  Wait(3, &three);
  ledger_.Done(2, absl::OkStatus(), false);
  EXPECT_FALSE(two.has_value());
  ledger_.Done(1, absl::OkStatus(), false);
  EXPECT_TRUE(two.has_value() && two->ok());
  EXPECT_FALSE(three.has_value());
  ledger_.Done(3, absl::OkStatus(), false);
  EXPECT_TRUE(three.has_value() && three->ok());
  EXPECT_EQ(WaitNow(1), absl::OkStatus());
}

TEST_F(BatchLedgerTest, AValueThatWasNotSubmittedIsInvalid) {
  Submit(1);
  EXPECT_TRUE(absl::IsInvalidArgument(ledger_.Wait(2, [](absl::Status) {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ledger_.Wait(0, [](absl::Status) {}).status()));
}

TEST_F(BatchLedgerTest, TheFirstFailureIsToldOnce) {
  Submit(4);
  ledger_.Done(1, absl::OkStatus(), false);
  ledger_.Done(2, absl::InternalError("two"), false);
  ledger_.Done(3, absl::InternalError("three"), false);
  ledger_.Done(4, absl::AbortedError("four"), false);
  EXPECT_EQ(WaitNow(1), absl::OkStatus());
  EXPECT_EQ(WaitNow(3), absl::InternalError("two"));
  EXPECT_EQ(WaitNow(2), absl::OkStatus());
  EXPECT_EQ(WaitNow(4), absl::AbortedError("four"));
}

TEST_F(BatchLedgerTest, AWaitThatIsAskedAgainHearsTheSame) {
  Submit(3);
  ledger_.Done(1, absl::InternalError("one"), false);
  ledger_.Done(2, absl::InternalError("two"), false);
  ledger_.Done(3, absl::OkStatus(), false);
  EXPECT_EQ(WaitNow(1), absl::InternalError("one"));
  EXPECT_EQ(WaitNow(2), absl::InternalError("two"));
  EXPECT_EQ(WaitNow(1), absl::InternalError("one"));
  EXPECT_EQ(WaitNow(2), absl::InternalError("two"));
  EXPECT_EQ(WaitNow(3), absl::OkStatus());
}

TEST_F(BatchLedgerTest, AFailureThatItsSubmitterWasToldIsNotKept) {
  Submit(1);
  ledger_.Done(1, absl::InternalError("told"), /*told=*/true);
  EXPECT_EQ(WaitNow(1), absl::OkStatus());
}

TEST_F(BatchLedgerTest, FailuresBeyondTheLimitAreCountedAndTheFirstIsKept) {
  const int count = static_cast<int>(kMaxKeptFailures) + 10;
  for (int i = 1; i <= count; ++i) {
    const std::uint64_t value = ledger_.Begin().value();
    ledger_.Done(value, absl::InternalError(std::to_string(value)), false);
  }
  const absl::Status first = WaitNow(5);
  EXPECT_EQ(first.message().substr(0, 2), "1 ");
  EXPECT_NE(first.message().find("more than 4096 failures"), absl::string_view::npos);
  EXPECT_FALSE(WaitNow(10).ok());
  EXPECT_EQ(WaitNow(9), absl::OkStatus());
  EXPECT_EQ(WaitNow(11), absl::InternalError("11"));
}

TEST_F(BatchLedgerTest, ACancelledWaitIsNotCalled) {
  Submit(1);
  std::optional<absl::Status> result;
  const BatchLedger::WaitId id = Wait(1, &result);
  ledger_.CancelWait(id);
  ledger_.CancelWait(id);
  ledger_.Done(1, absl::InternalError("failed"), false);
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(WaitNow(1), absl::InternalError("failed"));
}

TEST_F(BatchLedgerTest, InFlightBatchesAndWaitsAreBounded) {
  Submit(static_cast<int>(kMaxBatchesInFlight));
  EXPECT_TRUE(absl::IsResourceExhausted(ledger_.Begin().status()));
  std::optional<absl::Status> result;
  for (std::size_t i = 0; i < kMaxWaits; ++i) Wait(1, &result);
  EXPECT_TRUE(absl::IsResourceExhausted(ledger_.Wait(1, [](absl::Status) {}).status()));
  ledger_.Done(1, absl::OkStatus(), false);
  EXPECT_TRUE(ledger_.Begin().ok());
}

TEST_F(BatchLedgerTest, TheEndAnswersEveryWait) {
  Submit(1);
  std::optional<absl::Status> result;
  Wait(1, &result);
  ledger_.End(absl::AbortedError("ended"));
  EXPECT_EQ(result, absl::AbortedError("ended"));
  EXPECT_EQ(WaitNow(1), absl::AbortedError("ended"));
  EXPECT_TRUE(absl::IsAborted(ledger_.Begin().status()));
}

}  // namespace
}  // namespace gpuos::control
