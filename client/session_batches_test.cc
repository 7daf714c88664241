#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "client/testing/session_fixture.h"
#include "client/testing/status_matchers.h"
#include "gpuos/client.h"

namespace gpuos {
namespace {

using testing::AddProgram;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class SessionBatchesTest : public testing::SessionFixture {
 protected:
  void SetUp() override {
    testing::SessionFixture::SetUp();
    daemon_->state().SetRunner(testing::RunAdd);
    auto memory = session_->CreateSegment(4096);
    ASSERT_THAT(memory, IsOk());
    memory_ = *std::move(memory);
    auto program = session_->CreateProgram(AddProgram(4));
    ASSERT_THAT(program, IsOk());
    program_ = *program;
  }

  std::vector<Binding> Bindings() const {
    const SegmentId id = memory_.segment.id;
    return {{id, 0}, {id, 1024}, {id, 2048}};
  }
  // Calls that have come to the daemon, awaited within a second.
  bool DaemonSaw(const std::string& method) {
    for (int i = 0; i < 1000 && daemon_->state().Calls(method) == 0; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    return daemon_->state().Calls(method) > 0;
  }

  MappedSegment memory_;
  ProgramId program_{};
};

TEST_F(SessionBatchesTest, RunsAProgramOverSharedMemory) {
  auto* const floats = memory_.mapping.as<float>();
  for (int i = 0; i < 4; ++i) {
    floats[256 + i] = static_cast<float>(i);
    floats[512 + i] = 0.5f;
  }
  auto value = session_->Submit(program_, Bindings(), /*wait=*/true);
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(*value, 1u);
  EXPECT_EQ(floats[3], 3.5f);
}

TEST_F(SessionBatchesTest, CountsBatchesAndWaitsForThem) {
  ASSERT_THAT(session_->Submit(program_, Bindings()), IsOk());
  auto second = session_->Submit(program_, Bindings());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(*second, 2u);
  EXPECT_THAT(session_->Wait(*second), IsOk());
}

TEST_F(SessionBatchesTest, AsksTheDaemonOnceForTheSameProgram) {
  auto again = session_->CreateProgram(AddProgram(4));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(*again, program_);
  EXPECT_EQ(daemon_->state().Calls("CreateProgram"), 1);
  auto other = session_->CreateProgram(AddProgram(5));
  ASSERT_THAT(other, IsOk());
  EXPECT_NE(*other, program_);
}

TEST_F(SessionBatchesTest, AsksAgainForAProgramThatWasReleased) {
  EXPECT_THAT(session_->ReleaseProgram(program_), IsOk());
  auto again = session_->CreateProgram(AddProgram(4));
  ASSERT_THAT(again, IsOk());
  EXPECT_NE(*again, program_);
  EXPECT_EQ(daemon_->state().Calls("CreateProgram"), 2);
}

TEST_F(SessionBatchesTest, DoesNotRememberAProgramThatWasRefused) {
  daemon_->state().FailNext("CreateProgram", absl::InvalidArgumentError("tasks[0].op is unknown"));
  EXPECT_THAT(session_->CreateProgram(AddProgram(6)),
              StatusIs(absl::StatusCode::kInvalidArgument, "tasks[0].op is unknown"));
  EXPECT_THAT(session_->CreateProgram(AddProgram(6)), IsOk());
}

TEST_F(SessionBatchesTest, HandsOnWhyABatchIsRefused) {
  EXPECT_THAT(session_->Submit(program_, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "bindings has 0 entries and the program has 3 slots"));
}

TEST_F(SessionBatchesTest, AFailedBatchFailsItsWaits) {
  daemon_->state().SetRunner([](const auto&, const auto&) {
    return absl::OutOfRangeError("task 0 read outside of its operand");
  });
  auto value = session_->Submit(program_, Bindings());
  ASSERT_THAT(value, IsOk());
  EXPECT_THAT(session_->Wait(*value), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("task 0")));
  EXPECT_THAT(session_->Submit(program_, Bindings(), /*wait=*/true),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("task 0")));
}

TEST_F(SessionBatchesTest, AWaitThatIsTooShortCanBeRepeated) {
  daemon_->state().HoldBatches(true);
  auto value = session_->Submit(program_, Bindings());
  ASSERT_THAT(value, IsOk());
  EXPECT_THAT(session_->Wait(*value, absl::Milliseconds(30)),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       "batches 1 to 1 of session 1 were not all done within 30ms: they go on, "
                       "wait again"));
  EXPECT_THAT(session_->Wait(*value, absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("within 5ms")));
  daemon_->state().HoldBatches(false);
  EXPECT_THAT(session_->Wait(*value), IsOk());
}

TEST_F(SessionBatchesTest, ABatchOnItsWayIsAbortedWhenTheDaemonDies) {
  daemon_->state().HoldBatches(true);
  absl::Status result;
  std::thread waiter([&] { result = session_->Submit(program_, Bindings(), true).status(); });
  EXPECT_TRUE(DaemonSaw("SubmitBatch"));
  daemon_->Stop();
  waiter.join();
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kAborted,
                               HasSubstr("what the batch writes is undefined")));
  EXPECT_THAT(session_->Wait(1), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is over")));
}

TEST_F(SessionBatchesTest, EveryCallSaysThatTheDaemonEndedTheSession) {
  daemon_->HangUp();
  const auto lost = StatusIs(absl::StatusCode::kUnavailable,
                             "session 1 of gpuosd at " + daemon_->socket_path() +
                                 " is over: gpuosd closed it (it was stopped or restarted, or it "
                                 "ended the session); connect again");
  EXPECT_THAT(session_->Submit(program_, Bindings()), lost);
  EXPECT_THAT(session_->Wait(1), lost);
  EXPECT_THAT(session_->CreateProgram(AddProgram(4)), lost);
  EXPECT_THAT(session_->ReleaseProgram(program_), lost);
  EXPECT_THAT(session_->CreateSegment(1), lost);
  EXPECT_THAT(session_->RegisterMemoryFile(0), lost);
  EXPECT_THAT(session_->RegisterCudaIpc("", ""), lost);
  EXPECT_THAT(session_->RegisterCudaPointer(1), lost);
  EXPECT_THAT(session_->Release(memory_.segment.id), lost);
  EXPECT_THAT(session_->Close(), lost);
  EXPECT_THAT(Session::Connect(ConnectOptions()), IsOk());
}

TEST_F(SessionBatchesTest, HandsOnThatTheExecutorIsBeingReplaced) {
  daemon_->state().FailNext("SubmitBatch", absl::UnavailableError("host:0 is being replaced"));
  EXPECT_THAT(session_->Submit(program_, Bindings()),
              StatusIs(absl::StatusCode::kUnavailable, "host:0 is being replaced"));
  EXPECT_THAT(session_->Submit(program_, Bindings(), /*wait=*/true), IsOk());
}

}  // namespace
}  // namespace gpuos
