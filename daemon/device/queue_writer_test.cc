#include "daemon/device/queue_writer.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

class QueueWriterTest : public testing::Test {
 protected:
  // Ends a batch as the worker does.
  void Complete(std::uint32_t window, std::uint64_t id, abi::BatchCode code = abi::BatchCode::kOk,
                std::uint64_t detail = 0) {
    page_->completions[window].code = code;
    page_->completions[window].detail = detail;
    std::atomic_ref<std::uint64_t>(page_->completions[window].id)
        .store(id, std::memory_order_release);
  }

  static abi::QueueEntry Batch(std::uint32_t window, std::uint64_t id) {
    abi::QueueEntry entry{};
    entry.kind = abi::EntryKind::kBatch;
    entry.window = window;
    entry.id = id;
    entry.program = 1000 + id;
    return entry;
  }

  std::unique_ptr<abi::QueuePage> page_ = std::make_unique<abi::QueuePage>();
  QueueWriter writer_{*page_};
};

TEST_F(QueueWriterTest, EntriesStandInTheOrderOfPublicationAndTailCountsThem) {
  writer_.Publish(Batch(3, 1));
  writer_.PublishPark();
  EXPECT_EQ(page_->tail, 2u);
  EXPECT_EQ(writer_.published(), 2u);
  EXPECT_EQ(writer_.parks_published(), 1u);
  EXPECT_EQ(page_->entries[0].kind, abi::EntryKind::kBatch);
  EXPECT_EQ(page_->entries[0].window, 3u);
  EXPECT_EQ(page_->entries[0].program, 1001u);
  EXPECT_EQ(page_->entries[1].kind, abi::EntryKind::kPark);
}

TEST_F(QueueWriterTest, EntriesWrapAroundAndTheTailGoesOn) {
  for (std::uint64_t i = 0; i <= abi::kQueueEntries; ++i) {
    writer_.Publish(Batch(0, i + 1));
    Complete(0, i + 1);
    ASSERT_TRUE(writer_.TakeCompletion(0).has_value());
  }
  EXPECT_EQ(page_->tail, abi::kQueueEntries + 1u);
  EXPECT_EQ(page_->entries[0].id, abi::kQueueEntries + 1u);
  EXPECT_EQ(page_->entries[1].id, 2u);
}

TEST_F(QueueWriterTest, ACompletionIsTakenOnceAndFreesItsWindow) {
  EXPECT_EQ(writer_.TakeCompletion(5), std::nullopt);
  writer_.Publish(Batch(5, 7));
  EXPECT_FALSE(writer_.idle(5));
  EXPECT_EQ(writer_.TakeCompletion(5), std::nullopt);
  Complete(5, 7, abi::BatchCode::kOperatorFailed, 0x200000004);
  EXPECT_EQ(writer_.TakeCompletion(5),
            (CompletionView{7, abi::BatchCode::kOperatorFailed, 0x200000004}));
  EXPECT_TRUE(writer_.idle(5));
  EXPECT_EQ(writer_.TakeCompletion(5), std::nullopt);
}

TEST_F(QueueWriterTest, TheCompletionOfAWindowsEarlierBatchIsNotTakenForTheNext) {
  writer_.Publish(Batch(0, 1));
  Complete(0, 1);
  ASSERT_TRUE(writer_.TakeCompletion(0).has_value());
  writer_.Publish(Batch(0, 2));
  EXPECT_EQ(writer_.TakeCompletion(0), std::nullopt);
  Complete(0, 2);
  EXPECT_EQ(writer_.TakeCompletion(0)->id, 2u);
}

TEST_F(QueueWriterTest, TheHeartbeatIsReadAsTheWorkerWroteIt) {
  page_->heartbeat.clock_ns = 10;
  page_->heartbeat.progress = 20;
  page_->heartbeat.launch = 3;
  page_->heartbeat.left = 2;
  const abi::Heartbeat beat = writer_.heartbeat();
  EXPECT_EQ(beat.clock_ns, 10u);
  EXPECT_EQ(beat.progress, 20u);
  EXPECT_EQ(beat.launch, 3u);
  EXPECT_EQ(beat.left, 2u);
}

// Run under the thread sanitizer: entries and completions need no other synchronization.
TEST_F(QueueWriterTest, AnotherThreadMayTakeEntriesAndCompleteThem) {
  constexpr std::uint64_t kBatches = 1000;
  std::thread worker([this] {
    for (std::uint64_t taken = 0; taken < kBatches; ++taken) {
      while (std::atomic_ref<std::uint64_t>(page_->tail).load(std::memory_order_acquire) == taken) {
        std::this_thread::yield();
      }
      const abi::QueueEntry entry = page_->entries[taken % abi::kQueueEntries];
      Complete(entry.window, entry.id, abi::BatchCode::kOk, entry.program);
    }
  });
  for (std::uint64_t id = 1; id <= kBatches; ++id) {
    const auto window = static_cast<std::uint32_t>(id % abi::kWindow);
    writer_.Publish(Batch(window, id));
    std::optional<CompletionView> completion;
    while (!(completion = writer_.TakeCompletion(window))) std::this_thread::yield();
    EXPECT_EQ(completion->detail, 1000 + id);
  }
  worker.join();
}

}  // namespace
}  // namespace gpuos::device
