// Which batches run at once, which wait, and in what order they are answered.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "daemon/executor/core.h"
#include "daemon/executor/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using ::testing::ElementsAre;

CoreOptions Dedicated() {
  CoreOptions options;
  options.residence.dedicated = true;
  return options;
}

ProgramBuilder SpinProgram(std::int64_t ms) {
  ProgramBuilder builder;
  builder.Task("test.spin", {}, {{"ms", ms}});
  return builder;
}

// Meets flags[1 - mine] at flags[mine] and writes to a byte whether it did.
ProgramBuilder RendezvousProgram(std::int64_t mine) {
  ProgramBuilder builder;
  const std::uint32_t met = builder.Slot(1);
  const std::uint32_t flags = builder.Slot(16);
  builder.Task("test.rendezvous",
               {MakeView(met, {1}, v1::DTYPE_BOOL), MakeView(flags, {2}, v1::DTYPE_I64)},
               {{"mine", mine}, {"other", 1 - mine}, {"timeout_ms", 5000}});
  return builder;
}

TEST(CoreOrder, ABatchSeesWhatEarlierOnesWroteAThousandDeep) {
  CoreHarness harness(Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder next;  // to = from + one
  const std::uint32_t to = next.Slot(64), from = next.Slot(64), one = next.Slot(64);
  next.Task("add", {MakeView(to, {16}), MakeView(from, {16}), MakeView(one, {16})});
  harness.Load(1, 5, next);
  std::fill_n(file.at<float>(128), 16, 1.0f);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t a = i % 2 == 0 ? 0 : 64;
    tickets.push_back(harness.Run(
        1, 5, {{.segment = 1, .offset = 64 - a}, {.segment = 1, .offset = a}, {1, 128}}));
  }
  ASSERT_TRUE(harness.Wait(tickets.back()).ok());
  for (int i = 0; i < 16; ++i) EXPECT_EQ(file.at<float>(0)[i], 1000.0f);
  EXPECT_EQ(harness.order(), tickets);
}

TEST(CoreOrder, TwoTasksOfABatchMeet) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder builder;
  const std::uint32_t met[] = {builder.Slot(1), builder.Slot(1)};
  const std::uint32_t flags = builder.Slot(16);
  for (const std::int64_t mine : {0, 1}) {
    builder.Task("test.rendezvous",
                 {MakeView(met[mine], {1}, v1::DTYPE_BOOL), MakeView(flags, {2}, v1::DTYPE_I64)},
                 {{"mine", mine}, {"other", 1 - mine}, {"timeout_ms", 5000}});
  }
  harness.Load(1, 5, builder);
  ASSERT_TRUE(harness.Wait(harness.Run(1, 5, {{1, 0}, {1, 16}, {1, 32}})).ok());
  EXPECT_TRUE(*file.at<bool>(0));
  EXPECT_TRUE(*file.at<bool>(16));
}

TEST(CoreOrder, BatchesOfASessionThatShareNoByteAreBothWithTheWorker) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder fill;
  const std::uint32_t slot = fill.Slot(64);
  fill.Task("test.spin", {}, {{"ms", 20}}).Task("fill", {MakeView(slot, {16})});
  harness.Load(1, 5, fill);
  const Ticket first = harness.Run(1, 5, {{1, 0}});
  const Ticket second = harness.Run(1, 5, {{1, 64}});
  harness.Step();
  EXPECT_EQ(harness.counters().batches_in_flight, 2u);
  EXPECT_TRUE(harness.Wait(first).ok());
  EXPECT_TRUE(harness.Wait(second).ok());
}

TEST(CoreOrder, BatchesOfTwoSessionsRunAtOnce) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.OpenSession(2, file);
  harness.Load(1, 5, RendezvousProgram(0));
  harness.Load(2, 5, RendezvousProgram(1));
  const Ticket first = harness.Run(1, 5, {{1, 0}, {1, 32}});
  const Ticket second = harness.Run(2, 5, {{1, 16}, {1, 32}});
  EXPECT_TRUE(harness.Wait(first).ok());
  EXPECT_TRUE(harness.Wait(second).ok());
  EXPECT_TRUE(*file.at<bool>(0));
  EXPECT_TRUE(*file.at<bool>(16));
}

TEST(CoreOrder, ConflictingBatchesNeverRunAtOnce) {
  CoreHarness harness(Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, RendezvousProgram(0));
  for (int i = 0; i < 3; ++i) harness.Run(1, 5, {{1, 0}, {1, 32}});
  harness.Step();
  EXPECT_EQ(harness.counters().batches_in_flight, 1u);
  EXPECT_EQ(harness.counters().batches_queued, 2u);
  *file.at<std::int64_t>(40) = 1;  // The other side of the meeting.
  EXPECT_TRUE(harness.Wait(3).ok());
}

TEST(CoreOrder, AnswersOfASessionComeInItsOrder) {
  CoreHarness harness(Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, SpinProgram(60));
  harness.Load(1, 6, SpinProgram(0));
  const Ticket slow = harness.Run(1, 5, {});
  const Ticket fast = harness.Run(1, 6, {});
  EXPECT_TRUE(harness.StepUntil([&] { return harness.counters().batches.completed == 1; }));
  EXPECT_FALSE(harness.answered(fast));
  EXPECT_TRUE(harness.Wait(fast).ok());
  EXPECT_THAT(harness.order(), ElementsAre(slow, fast));
}

TEST(CoreOrder, OneSessionsFloodDoesNotKeepAnotherWaiting) {
  CoreHarness harness(Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.OpenSession(2, file);
  harness.Load(1, 5, SpinProgram(0));
  harness.Load(2, 5, SpinProgram(0));
  for (int i = 0; i < 2000; ++i) harness.Run(1, 5, {});
  const Ticket other = harness.Run(2, 5, {});
  ASSERT_TRUE(harness.Wait(other).ok());
  EXPECT_LT(harness.order().size(), 200u);
}

TEST(CoreOrder, PublishesNoMoreThanTheWindowHolds) {
  CoreHarness harness(Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, SpinProgram(0));
  for (int i = 0; i < 200; ++i) harness.Run(1, 5, {});
  harness.Step();
  EXPECT_EQ(harness.counters().batches_in_flight, 64u);
  EXPECT_EQ(harness.counters().batches_queued, 136u);
  EXPECT_TRUE(harness.Wait(200).ok());
}

TEST(CoreOrder, ABatchWaitsForRoomForItsState) {
  CoreOptions options = Dedicated();
  options.memory.state_bytes = 1200 * 1024;  // A little more than the largest batch's.
  CoreHarness harness(options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder builder;
  for (int i = 0; i < 20000; ++i) builder.Task("nop", {});  // 320,000 bytes of state.
  harness.Load(1, 5, builder);
  for (int i = 0; i < 5; ++i) harness.Run(1, 5, {});
  harness.Step();
  EXPECT_EQ(harness.counters().batches_in_flight, 3u);
  EXPECT_TRUE(harness.Wait(5).ok());
}

TEST(CoreOrder, ABatchWaitsForRoomInTheReadyQueue) {
  CoreOptions options = Dedicated();
  options.memory.ready_capacity = 2048;
  CoreHarness harness(options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder builder;
  for (int i = 0; i < 1000; ++i) builder.Task("nop", {});
  harness.Load(1, 5, builder);
  for (int i = 0; i < 20; ++i) harness.Run(1, 5, {});
  harness.Step();
  EXPECT_EQ(harness.counters().batches_in_flight, 2u);
  EXPECT_TRUE(harness.Wait(20).ok());
}

TEST(CoreOrder, ASessionThatNeverWaitsIsRefusedInTheEnd) {
  CoreOptions options = Dedicated();
  options.session.unanswered_batches = 10;
  CoreHarness harness(options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, SpinProgram(0));
  for (int i = 0; i < 10; ++i) harness.Run(1, 5, {});
  EXPECT_EQ(harness.core().RunBatch(77, 1, 5, {}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(harness.Wait(10).ok());
  EXPECT_TRUE(harness.Wait(harness.Run(1, 5, {})).ok());
}

}  // namespace
}  // namespace gpuos::executor
