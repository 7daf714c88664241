#include "kernels/worker/host_worker.h"

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "gpuos/atomic.h"
#include "gtest/gtest.h"
#include "kernels/worker/hand_made_image.h"

namespace gpuos::worker {
namespace {

// Operators of the test. Slot 0 is a log with a word for each task: tiles finished.
constexpr std::uint32_t kStamp = 0;
constexpr std::uint32_t kFail = 1;

std::uint64_t* Log(const Call& call) { return reinterpret_cast<std::uint64_t*>(call.bindings[0]); }

// Attributes: index of a predecessor that must have finished (-1: none) and its tiles, up to three.
void Stamp(const Call& call) {
  for (int i = 0; i < 6; i += 2) {
    const std::int64_t before = call.attributes[i].i;
    if (before < 0) continue;
    // Plain read on purpose: thread sanitizer sees a missing happens-before edge.
    if (Log(call)[before] != static_cast<std::uint64_t>(call.attributes[i + 1].i)) {
      call.batch->error = (std::uint64_t{1} << 32) | call.task;
    }
  }
  if (call.tiles == 1) {
    Log(call)[call.task] = 1;
  } else {
    DeviceWord<std::uint64_t>(Log(call)[call.task]).fetch_add(1, memory_order_relaxed);
  }
}

void FailAlways(const Call& call) { call.batch->error = (std::uint64_t{7} << 32) | call.task; }

// One worker with its memory and the executor's side of the queue.
class Rig {
 public:
  Rig(std::uint32_t threads, std::uint32_t blocks, std::uint64_t seed,
      std::uint64_t ready_capacity = 4096)
      : ready_(ready_capacity),
        worker_({.threads = threads, .blocks = blocks, .seed = seed, .on_progress = {}}) {
    state_.queue = reinterpret_cast<abi::DeviceAddress>(&queue_);
    state_.ready = reinterpret_cast<abi::DeviceAddress>(ready_.data());
    state_.ready_capacity = ready_capacity;
  }

  void Publish(abi::QueueEntry entry) {
    queue_.entries[published_ % abi::kQueueEntries] = entry;
    SystemWord<std::uint64_t>(queue_.tail).store(++published_, memory_order_release);
  }
  void Park() {
    abi::QueueEntry entry{};
    entry.kind = abi::EntryKind::kPark;
    Publish(entry);
  }
  void Launch() { worker_.Launch(&state_, ++launches_); }

  // Publishes a batch over one slot, `log`.
  void Run(const std::vector<std::uint64_t>& image, std::vector<std::uint64_t>& log,
           std::uint32_t window, std::uint64_t id) {
    const auto* program = reinterpret_cast<const abi::Program*>(image.data());
    states_[window].resize(abi::BatchStateBytes(program->slot_count, program->task_count) / 8);
    bindings_[window] = reinterpret_cast<abi::DeviceAddress>(log.data());
    abi::QueueEntry entry{};
    entry.kind = abi::EntryKind::kBatch;
    entry.window = window;
    entry.id = id;
    entry.program = reinterpret_cast<abi::DeviceAddress>(image.data());
    entry.state = reinterpret_cast<abi::DeviceAddress>(states_[window].data());
    entry.table = reinterpret_cast<abi::DeviceAddress>(table_);
    entry.bindings = reinterpret_cast<abi::DeviceAddress>(&bindings_[window]);
    Publish(entry);
  }

  // Waits for the batch; false after ten seconds.
  bool Wait(std::uint32_t window, std::uint64_t id) {
    return Until([&] {
      return SystemWord<std::uint64_t>(queue_.completions[window].id).load(memory_order_acquire) ==
             id;
    });
  }
  bool WaitFinished(std::uint64_t launches) {
    return Until([&] { return worker_.finished() >= launches; });
  }
  const abi::Completion& completion(std::uint32_t window) { return queue_.completions[window]; }
  const HostWorker& worker() const { return worker_; }
  std::uint64_t launches() const { return launches_; }

 private:
  template <typename Condition>
  static bool Until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  abi::QueuePage queue_{};
  abi::WorkerState state_{};
  std::vector<abi::ReadyItem> ready_;
  std::vector<std::uint64_t> states_[abi::kWindow];
  abi::DeviceAddress bindings_[abi::kWindow] = {};
  abi::DeviceAddress table_[2] = {reinterpret_cast<abi::DeviceAddress>(&Stamp),
                                  reinterpret_cast<abi::DeviceAddress>(&FailAlways)};
  std::uint64_t published_ = 0;
  std::uint64_t launches_ = 0;
  HostWorker worker_;  // Last: ends before the memory it uses.
};

std::vector<HandMadeTask> Independent(std::uint32_t count, std::uint32_t tiles) {
  std::vector<HandMadeTask> tasks(count);
  for (HandMadeTask& task : tasks) {
    task.op = kStamp;
    task.tiles = tiles;
    for (int i = 0; i < 6; i += 2) task.attributes[i] = -1;
  }
  return tasks;
}

void AddEdge(std::vector<HandMadeTask>& tasks, std::uint32_t from, std::uint32_t to) {
  tasks[from].successors.push_back(to);
  for (int i = 0; i < 6; i += 2) {
    if (tasks[to].attributes[i] >= 0) continue;
    tasks[to].attributes[i] = from;
    tasks[to].attributes[i + 1] = tasks[from].tiles;
    return;
  }
}

std::vector<HandMadeTask> Chain(std::uint32_t count) {
  std::vector<HandMadeTask> tasks = Independent(count, 1);
  for (std::uint32_t i = 0; i + 1 < count; ++i) AddEdge(tasks, i, i + 1);
  return tasks;
}

std::vector<HandMadeTask> RandomGraph(std::uint32_t count, std::mt19937_64& random) {
  std::vector<HandMadeTask> tasks = Independent(count, 1);
  for (HandMadeTask& task : tasks) task.tiles = 1 + (random() % 4 == 0 ? random() % 9 : 0);
  for (std::uint32_t to = 1; to < count; ++to) {
    for (std::uint64_t edges = random() % 4; edges > 0; --edges) {
      AddEdge(tasks, static_cast<std::uint32_t>(random() % to), to);
    }
  }
  return tasks;
}

void ExpectAllRan(const std::vector<HandMadeTask>& tasks, const std::vector<std::uint64_t>& log) {
  for (std::size_t i = 0; i < tasks.size(); ++i) ASSERT_EQ(log[i], tasks[i].tiles) << "task " << i;
}

TEST(HostWorker, ChainRunsInOrder) {
  Rig rig(2, 4, 1);
  const auto tasks = Chain(500);
  std::vector<std::uint64_t> log(500);
  const auto image = MakeImage(tasks, 1, 3);
  rig.Run(image, log, 0, 1);
  rig.Park();
  rig.Launch();
  ASSERT_TRUE(rig.Wait(0, 1));
  EXPECT_EQ(rig.completion(0).code, abi::BatchCode::kOk);
  ExpectAllRan(tasks, log);
}

TEST(HostWorker, EmptyProgramCompletes) {
  Rig rig(1, 2, 1);
  std::vector<std::uint64_t> log(1);
  const auto image = MakeImage({}, 1, 1);
  rig.Run(image, log, 5, 1);
  rig.Park();
  rig.Launch();
  EXPECT_TRUE(rig.Wait(5, 1));
}

TEST(HostWorker, WideTaskRunsEachTileOnce) {
  Rig rig(2, 9, 3);
  const auto tasks = Independent(3, 1000);
  std::vector<std::uint64_t> log(3);
  const auto image = MakeImage(tasks, 1, 8);
  rig.Run(image, log, 0, 1);
  rig.Park();
  rig.Launch();
  ASSERT_TRUE(rig.Wait(0, 1));
  ExpectAllRan(tasks, log);
}

TEST(HostWorker, FailureReachesTheCompletion) {
  Rig rig(2, 4, 1);
  std::vector<HandMadeTask> tasks = Independent(3, 1);
  tasks[2].op = kFail;
  std::vector<std::uint64_t> log(3);
  const auto image = MakeImage(tasks, 1, 3);
  rig.Run(image, log, 0, 1);
  rig.Park();
  rig.Launch();
  ASSERT_TRUE(rig.Wait(0, 1));
  EXPECT_EQ(rig.completion(0).code, abi::BatchCode::kOperatorFailed);
  EXPECT_EQ(rig.completion(0).detail, (std::uint64_t{7} << 32) | 2);
}

TEST(HostWorker, LeavesOnlyWhenParkedAndComesBack) {
  Rig rig(2, 4, 1);
  const auto tasks = Chain(10);
  const auto image = MakeImage(tasks, 1, 3);
  for (std::uint64_t id = 1; id <= 200; ++id) {
    std::vector<std::uint64_t> log(10);
    rig.Launch();
    rig.Run(image, log, id % abi::kWindow, id);
    ASSERT_TRUE(rig.Wait(id % abi::kWindow, id));
    ASSERT_EQ(rig.worker().finished(), id - 1) << "it left without being told";
    rig.Park();
    ASSERT_TRUE(rig.WaitFinished(id));
  }
}

TEST(HostWorker, BatchBehindAParkWaitsForTheNextLaunch) {
  Rig rig(2, 4, 1);
  const auto tasks = Chain(10);
  const auto image = MakeImage(tasks, 1, 3);
  std::vector<std::uint64_t> first(10);
  std::vector<std::uint64_t> second(10);
  rig.Run(image, first, 0, 1);
  rig.Park();
  rig.Run(image, second, 1, 2);
  rig.Launch();
  ASSERT_TRUE(rig.WaitFinished(1));
  ExpectAllRan(tasks, first);
  EXPECT_EQ(second[0], 0u);
  rig.Park();
  rig.Launch();
  ASSERT_TRUE(rig.Wait(1, 2));
  ExpectAllRan(tasks, second);
}

// The ready queue is as small as the contract allows, so that it laps all the time.
TEST(HostWorker, RandomGraphsKeepTheirOrderAtAnyNumberOfBlocks) {
  std::mt19937_64 random(20261201);
  for (const std::uint32_t blocks : {2u, 3u, 17u, 200u}) {
    Rig rig(3, blocks, random(), 1024);
    rig.Launch();
    for (std::uint64_t id = 1; id <= 25; ++id) {
      const auto tasks = RandomGraph(1 + static_cast<std::uint32_t>(random() % 250), random);
      std::vector<std::uint64_t> log(tasks.size());
      const auto image = MakeImage(tasks, 1, 4);
      ASSERT_LE(reinterpret_cast<const abi::Program*>(image.data())->ready_items, 1024u);
      rig.Run(image, log, id % abi::kWindow, id);
      ASSERT_TRUE(rig.Wait(id % abi::kWindow, id));
      ASSERT_EQ(rig.completion(id % abi::kWindow).code, abi::BatchCode::kOk);
      ExpectAllRan(tasks, log);
    }
    rig.Park();
  }
}

TEST(HostWorker, ManyBatchesRunAtOnce) {
  std::mt19937_64 random(7);
  Rig rig(2, 6, 11, 1 << 16);
  std::vector<std::vector<HandMadeTask>> graphs;
  std::vector<std::vector<std::uint64_t>> images;
  std::vector<std::vector<std::uint64_t>> logs;
  for (std::uint32_t i = 0; i < abi::kWindow; ++i) {
    graphs.push_back(RandomGraph(100, random));
    images.push_back(MakeImage(graphs.back(), 1, 5));
    logs.emplace_back(100);
  }
  for (std::uint32_t i = 0; i < abi::kWindow; ++i) rig.Run(images[i], logs[i], i, i + 1);
  rig.Park();
  rig.Launch();
  for (std::uint32_t i = 0; i < abi::kWindow; ++i) {
    ASSERT_TRUE(rig.Wait(i, i + 1));
    ASSERT_EQ(rig.completion(i).code, abi::BatchCode::kOk);
    ExpectAllRan(graphs[i], logs[i]);
  }
}

// Shows that the suite can fail: an edge that the program lacks is noticed.
TEST(HostWorker, MissingEdgeIsNoticed) {
  std::vector<HandMadeTask> tasks = Independent(2, 1);
  tasks[0].attributes[0] = 1;  // Task 0 expects task 1 to be done, and nothing makes it so.
  tasks[0].attributes[1] = 1;
  std::vector<std::uint64_t> log(2);
  const auto image = MakeImage(tasks, 1, 1);
  Rig rig(1, 2, 1);
  rig.Run(image, log, 0, 1);
  rig.Park();
  rig.Launch();
  ASSERT_TRUE(rig.Wait(0, 1));
  EXPECT_EQ(rig.completion(0).code, abi::BatchCode::kOperatorFailed);
}

}  // namespace
}  // namespace gpuos::worker
