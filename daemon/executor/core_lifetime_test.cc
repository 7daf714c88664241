// What a session holds goes away when nothing uses it any more, and not before.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/executor/core.h"
#include "daemon/executor/core_harness.h"
#include "daemon/executor/decorated_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using ::testing::ElementsAre;

// Spins, then writes 64 bytes, so that two batches over the same bytes conflict.
ProgramBuilder SpinAndFill(std::int64_t ms) {
  ProgramBuilder builder;
  const std::uint32_t slot = builder.Slot(64);
  builder.Task("test.spin", {}, {{"ms", ms}}).Task("fill", {MakeView(slot, {16})});
  return builder;
}

class CoreLifetime : public ::testing::Test {
 protected:
  CoreLifetime() {
    harness_.OpenSession(1, file_);
    harness_.Load(1, 5, SpinAndFill(50));
  }

  Misbehaviour how_;
  MemoryFile file_{4096};
  CoreHarness harness_{std::make_unique<DecoratedDevice>(MakeTestDevice(2), how_), CoreOptions{}};
  Core& core_ = harness_.core();
};

TEST_F(CoreLifetime, ASessionEndsAfterItsRunningBatchesAndDropsTheOthers) {
  const Ticket running = harness_.Run(1, 5, {{1, 0}});
  const Ticket waiting = harness_.Run(1, 5, {{1, 0}});
  harness_.Step();
  const Ticket close = harness_.NewTicket();
  ASSERT_TRUE(core_.CloseSession(close, 1).ok());
  EXPECT_EQ(core_.RunBatch(77, 1, 5, {}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(core_.CloseSession(78, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(harness_.Wait(close).ok());
  EXPECT_EQ(harness_.Wait(waiting).code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(harness_.Wait(running).ok());
  EXPECT_THAT(harness_.order(), ElementsAre(waiting, running, close));
  EXPECT_EQ(harness_.counters().sessions, 0u);
  EXPECT_EQ(how_.releases, 1u);
  // The id is free again.
  harness_.OpenSession(1, file_);
}

TEST_F(CoreLifetime, ClosingGivesBackEverythingTheSessionHeld) {
  const std::uint64_t before = harness_.counters().arena_bytes_used;
  for (std::uint64_t session = 2; session < 12; ++session) {
    harness_.OpenSession(session, file_);
    harness_.Load(session, 5, SpinAndFill(0));
    harness_.Run(session, 5, {{1, 0}});
  }
  for (std::uint64_t session = 2; session < 12; ++session) {
    const Ticket close = harness_.NewTicket();
    ASSERT_TRUE(core_.CloseSession(close, session).ok());
    ASSERT_TRUE(harness_.Wait(close).ok());
  }
  EXPECT_EQ(harness_.counters().arena_bytes_used, before);
  EXPECT_EQ(harness_.counters().sessions, 1u);
  EXPECT_EQ(harness_.counters().segments, 1u);
  EXPECT_EQ(how_.releases, 10u);
}

TEST_F(CoreLifetime, ASegmentInUseIsLetGoWhenItsLastBatchIsDone) {
  const Ticket running = harness_.Run(1, 5, {{1, 0}});
  const Ticket waiting = harness_.Run(1, 5, {{1, 0}});
  harness_.Step();
  const Ticket drop = harness_.NewTicket();
  ASSERT_TRUE(core_.DropSegment(drop, 1, 1).ok());
  // Gone for new batches at once.
  EXPECT_EQ(core_.RunBatch(77, 1, 5, {{1, 0}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(harness_.counters().segments, 0u);
  EXPECT_EQ(harness_.counters().releases_pending, 1u);
  EXPECT_TRUE(harness_.Wait(drop).ok());
  EXPECT_THAT(harness_.order(), ElementsAre(running, waiting, drop));
  EXPECT_TRUE(harness_.Wait(waiting).ok());
  EXPECT_EQ(how_.releases, 1u);
}

TEST_F(CoreLifetime, AnUnusedSegmentIsLetGoBesideARunningBatch) {
  MemoryFile other(4096);
  ASSERT_TRUE(core_.ImportMemoryFile(1, 2, other.fd()).ok());
  const Ticket running = harness_.Run(1, 5, {{1, 0}});
  harness_.Step();
  const Ticket drop = harness_.NewTicket();
  ASSERT_TRUE(core_.DropSegment(drop, 1, 2).ok());
  EXPECT_TRUE(harness_.Wait(drop).ok());
  EXPECT_FALSE(harness_.answered(running));
  EXPECT_TRUE(harness_.Wait(running).ok());
}

TEST_F(CoreLifetime, AProgramGoesAfterItsLastBatch) {
  const std::uint64_t before = harness_.counters().arena_bytes_used;
  harness_.Load(1, 6, SpinAndFill(20));
  const Ticket running = harness_.Run(1, 6, {{1, 0}});
  const Ticket waiting = harness_.Run(1, 6, {{1, 0}});
  harness_.Step();
  const Ticket drop = harness_.NewTicket();
  ASSERT_TRUE(core_.DropProgram(drop, 1, 6).ok());
  EXPECT_EQ(core_.RunBatch(77, 1, 6, {{1, 0}}).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(harness_.Wait(drop).ok());
  EXPECT_THAT(harness_.order(), ElementsAre(running, waiting, drop));
  EXPECT_EQ(harness_.counters().arena_bytes_used, before);
}

TEST_F(CoreLifetime, StopFinishesWhatRunsAbortsTheRestAndParks) {
  const Ticket running = harness_.Run(1, 5, {{1, 0}});
  const Ticket waiting = harness_.Run(1, 5, {{1, 0}});
  harness_.Step();
  const Ticket stop = harness_.NewTicket();
  ASSERT_TRUE(core_.Stop(stop).ok());
  EXPECT_TRUE(harness_.Wait(stop).ok());
  EXPECT_THAT(harness_.order(), ElementsAre(waiting, running, stop));
  EXPECT_TRUE(core_.parked());
  EXPECT_EQ(how_.releases, 1u);
}

}  // namespace
}  // namespace gpuos::executor
