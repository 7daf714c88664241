#include "daemon/control/program_table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/control/limits.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

class ProgramTableTest : public testing::Test {
 protected:
  absl::StatusOr<bool> Request(std::uint64_t id, const std::string& bytes, bool taken = true) {
    return table_.Request(id, std::make_shared<const std::string>(bytes),
                          [this, taken](absl::StatusOr<std::uint64_t> known) {
                            told_.push_back(std::move(known));
                            return taken;
                          });
  }

  ProgramTable table_;
  std::vector<absl::StatusOr<std::uint64_t>> told_;
};

TEST_F(ProgramTableTest, EqualBytesAreLoadedOnce) {
  EXPECT_TRUE(*Request(1, "same"));
  EXPECT_FALSE(*Request(2, "same"));
  EXPECT_TRUE(*Request(3, "other"));
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(absl::IsNotFound(table_.CheckReady(1)));
  EXPECT_TRUE(table_.Finish(1, absl::OkStatus()));
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(*told_[0], 1u);
  EXPECT_EQ(*told_[1], 1u);
  EXPECT_FALSE(*Request(4, "same"));
  EXPECT_EQ(*told_[2], 1u);
  EXPECT_EQ(table_.CheckReady(1), absl::OkStatus());
}

TEST_F(ProgramTableTest, AFailureIsToldToAllWhoWaitAndForgotten) {
  EXPECT_TRUE(*Request(1, "bad"));
  EXPECT_FALSE(*Request(2, "bad"));
  EXPECT_FALSE(table_.Finish(1, absl::InvalidArgumentError("cyclic")));
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[0].status(), absl::InvalidArgumentError("cyclic"));
  EXPECT_EQ(told_[1].status(), absl::InvalidArgumentError("cyclic"));
  EXPECT_TRUE(*Request(3, "bad"));
}

TEST_F(ProgramTableTest, AProgramThatNobodyWantsAnyMoreIsForgotten) {
  EXPECT_TRUE(*Request(1, "gone", /*taken=*/false));
  EXPECT_FALSE(table_.Finish(1, absl::OkStatus()));
  EXPECT_EQ(table_.count(), 0u);
  EXPECT_TRUE(*Request(2, "half", /*taken=*/false));
  EXPECT_FALSE(*Request(3, "half"));
  EXPECT_TRUE(table_.Finish(2, absl::OkStatus()));
}

TEST_F(ProgramTableTest, AReleasedProgramIsLoadedAgainUnderANewId) {
  EXPECT_TRUE(*Request(1, "x"));
  EXPECT_TRUE(absl::IsNotFound(table_.Remove(1)));
  table_.Finish(1, absl::OkStatus());
  EXPECT_EQ(table_.Remove(1), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(table_.Remove(1)));
  EXPECT_TRUE(*Request(2, "x"));
}

TEST_F(ProgramTableTest, ALostProgramIsRefusedWithTheReasonUntilItIsThereAgain) {
  EXPECT_TRUE(*Request(1, "x"));
  table_.Finish(1, absl::OkStatus());
  ASSERT_EQ(table_.restorable().size(), 1u);
  table_.SetLost(1, "no memory");
  EXPECT_TRUE(absl::IsFailedPrecondition(table_.CheckReady(1)));
  EXPECT_NE(table_.CheckReady(1).message().find("no memory"), absl::string_view::npos);
  table_.SetLost(1, "");
  EXPECT_EQ(table_.CheckReady(1), absl::OkStatus());
}

TEST_F(ProgramTableTest, CountAndBytesAreBounded) {
  EXPECT_TRUE(absl::IsResourceExhausted(
      Request(1, std::string(kMaxProgramBytesOfSession + 1, 'x')).status()));
  for (std::uint64_t id = 1; id <= kMaxProgramsOfSession; ++id) {
    ASSERT_TRUE(*Request(id, std::to_string(id)));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(Request(9999, "one more").status()));
}

TEST_F(ProgramTableTest, ClearTellsThoseWhoWait) {
  EXPECT_TRUE(*Request(1, "x"));
  table_.Clear();
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_TRUE(absl::IsAborted(told_[0].status()));
  // The executor's answer that comes later finds nothing to keep or to drop.
  EXPECT_FALSE(table_.Finish(1, absl::OkStatus()));
}

}  // namespace
}  // namespace gpuos::control
