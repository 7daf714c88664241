// The worker comes and goes as residence says, on a device.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "daemon/executor/core.h"
#include "daemon/executor/core_harness.h"
#include "daemon/executor/decorated_device.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using std::chrono::milliseconds;

CoreOptions Dedicated() {
  CoreOptions options;
  options.residence.dedicated = true;
  return options;
}

// to = a + b over 16 floats.
ProgramBuilder AddProgram() {
  ProgramBuilder builder;
  const std::uint32_t to = builder.Slot(64), a = builder.Slot(64), b = builder.Slot(64);
  builder.Task("add", {MakeView(to, {16}), MakeView(a, {16}), MakeView(b, {16})});
  return builder;
}

// A client on a thread of its own. Batches go through an inbox to the thread that steps the core;
// at most kInFlight at once, each with a place of its own for its result.
class Client {
 public:
  static constexpr int kInFlight = 16;

  Client(std::uint64_t session, int batches)
      : session_(session), batches_(batches), thread_([this] { Main(); }) {}
  ~Client() { thread_.join(); }

  // For the thread that steps.
  void SubmitTo(CoreHarness& harness) {
    const std::lock_guard lock(mutex_);
    for (; !inbox_.empty(); inbox_.pop_front()) {
      const std::uint64_t place = inbox_.front();
      open_.push_back(harness.Run(session_, 5, {{1, place * 64}, {1, 2048}, {1, 2112}}));
    }
  }
  void TakeAnswers(const CoreHarness& harness) {
    const std::lock_guard lock(mutex_);
    for (; !open_.empty() && harness.answered(open_.front()); open_.pop_front()) ++answered_;
    changed_.notify_one();
  }
  bool done() {
    const std::lock_guard lock(mutex_);
    return answered_ == batches_;
  }

 private:
  void Main() {
    for (int i = 0; i < batches_; ++i) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return i - answered_ < kInFlight; });
      inbox_.push_back(static_cast<std::uint64_t>(i % kInFlight));
    }
  }

  const std::uint64_t session_;
  const int batches_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> inbox_;
  std::deque<Ticket> open_;
  int answered_ = 0;
  std::thread thread_;
};

TEST(CoreResidence, TwoClientsTenThousandBatchesOneLaunch) {
  constexpr int kBatches = 5000;
  CoreHarness harness(Dedicated());
  MemoryFile file_a(4096);
  MemoryFile file_b(4096);
  harness.OpenSession(1, file_a);
  harness.OpenSession(2, file_b);
  for (const std::uint64_t session : {1, 2}) harness.Load(session, 5, AddProgram());
  for (int i = 0; i < 16; ++i) {
    file_a.at<float>(2048)[i] = 1.5f;
    file_b.at<float>(2048)[i] = 7.0f;
    file_a.at<float>(2112)[i] = file_b.at<float>(2112)[i] = 1.0f;
  }
  Client a(1, kBatches);
  Client b(2, kBatches);
  EXPECT_TRUE(harness.StepUntil([&] {
    for (Client* client : {&a, &b}) {
      client->TakeAnswers(harness);
      client->SubmitTo(harness);
    }
    return a.done() && b.done();
  }));
  for (int place = 0; place < Client::kInFlight; ++place) {
    EXPECT_EQ(file_a.at<float>(place * 64)[15], 2.5f);
    EXPECT_EQ(file_b.at<float>(place * 64)[15], 8.0f);
  }
  const Counters counters = harness.counters();
  EXPECT_EQ(counters.batches.completed, 2u * kBatches);
  EXPECT_EQ(counters.batches.failed, 0u);
  EXPECT_EQ(counters.worker_launches, 1u);
  EXPECT_EQ(counters.worker_parks, 0u);
  EXPECT_TRUE(counters.worker_resident);
}

TEST(CoreResidence, AnElasticWorkerLeavesWhenIdleAndComesBack) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, AddProgram());
  EXPECT_FALSE(harness.counters().worker_resident);
  for (std::uint64_t round = 1; round <= 20; ++round) {
    EXPECT_TRUE(harness.Wait(harness.Run(1, 5, {{1, 0}, {1, 64}, {1, 128}})).ok());
    EXPECT_TRUE(harness.StepUntil([&] { return harness.core().parked(); }));
    EXPECT_EQ(harness.counters().worker_launches, round);
    EXPECT_EQ(harness.counters().worker_parks, round);
    EXPECT_EQ(harness.core().wake_at(), std::nullopt);
    EXPECT_FALSE(harness.core().awaiting());
  }
}

TEST(CoreResidence, AnElasticWorkerServesABurstInFewLaunches) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder nop;
  nop.Task("nop", {});
  harness.Load(1, 5, nop);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 2000; ++i) tickets.push_back(harness.Run(1, 5, {}));
  EXPECT_TRUE(harness.Wait(tickets.back()).ok());
  EXPECT_LT(harness.counters().worker_launches, 200u);
}

TEST(CoreResidence, ChangesWhileRunning) {
  CoreHarness harness({});
  harness.core().SetDedicated(true);
  harness.Step();
  EXPECT_TRUE(harness.counters().worker_resident);
  harness.core().SetDedicated(false);
  EXPECT_TRUE(harness.StepUntil([&] { return harness.core().parked(); }));
}

TEST(CoreResidence, ADedicatedWorkerMakesWayForAReleaseAndReturns) {
  Misbehaviour how{.release_waits = true, .fault = absl::OkStatus()};
  CoreHarness harness(std::make_unique<DecoratedDevice>(MakeTestDevice(2), how), Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, AddProgram());
  ASSERT_TRUE(harness.core().ImportMemoryFile(1, 2, file.fd()).ok());
  EXPECT_TRUE(harness.Wait(harness.Run(1, 5, {{1, 0}, {1, 64}, {1, 128}})).ok());
  const Ticket drop = harness.NewTicket();
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(harness.core().DropSegment(drop, 1, 2).ok());
  const Ticket batch = harness.Run(1, 5, {{1, 0}, {1, 64}, {1, 128}});
  EXPECT_TRUE(harness.Wait(drop).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_TRUE(harness.Wait(batch).ok());
  EXPECT_EQ(how.releases_while_resident, 0u);
  EXPECT_EQ(harness.counters().worker_launches, 2u);
  EXPECT_TRUE(harness.counters().worker_resident);
}

TEST(CoreResidence, ABusyWorkerMakesWayForAReleaseInTime) {
  Misbehaviour how{.release_waits = true, .fault = absl::OkStatus()};
  CoreHarness harness(std::make_unique<DecoratedDevice>(MakeTestDevice(2), how), Dedicated());
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ASSERT_TRUE(harness.core().ImportMemoryFile(1, 2, file.fd()).ok());
  ProgramBuilder spin;
  spin.Task("test.spin", {}, {{"ms", 2}});
  harness.Load(1, 5, spin);
  // A new batch whenever one is done: the worker is never without work.
  const Ticket drop = harness.NewTicket();
  for (int i = 0; i < 4; ++i) harness.Run(1, 5, {});
  ASSERT_TRUE(harness.core().DropSegment(drop, 1, 2).ok());
  EXPECT_TRUE(harness.StepUntil([&] {
    while (harness.counters().batches_in_flight + harness.counters().batches_queued < 4) {
      harness.Run(1, 5, {});
    }
    return harness.answered(drop);
  }));
  EXPECT_EQ(how.releases_while_resident, 0u);
}

TEST(CoreResidence, WorksWhereLaunchesAreSynchronous) {
  Misbehaviour how{.release_waits = true, .synchronous_launch = true, .fault = absl::OkStatus()};
  CoreOptions options = Dedicated();
  options.residence.synchronous_launch = true;
  CoreHarness harness(std::make_unique<DecoratedDevice>(MakeTestDevice(2), how), options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, AddProgram());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(harness.Wait(harness.Run(1, 5, {{1, 0}, {1, 64}, {1, 128}})).ok());
    EXPECT_TRUE(harness.core().parked());
  }
  EXPECT_EQ(harness.counters().worker_launches, 20u);
}

TEST(CoreResidence, ReportsADeviceThatFaulted) {
  Misbehaviour how;
  CoreHarness harness(std::make_unique<DecoratedDevice>(MakeTestDevice(2), how), Dedicated());
  harness.Step();
  EXPECT_TRUE(harness.health().ok());
  how.fault = absl::InternalError("an illegal address was encountered");
  harness.Step();
  EXPECT_EQ(harness.health(), how.fault);
  how.fault = absl::OkStatus();
}

}  // namespace
}  // namespace gpuos::executor
