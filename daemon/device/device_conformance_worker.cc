// The worker: order, width, failures, windows, residence.
#include <cstdint>
#include <numeric>
#include <vector>

#include "daemon/device/device_conformance.h"
#include "gmock/gmock.h"

namespace gpuos::device {
namespace {

using testing::Booleans;
using ::testing::Each;
using testing::Floats;
using testing::Integers;
using testing::LoadedProgram;
using testing::MakeTask;

// A chain of `length` tasks, each adding slot 1 to slot 0.
std::vector<worker::HandMadeTask> Chain(std::uint32_t length, std::int64_t elements) {
  std::vector<worker::HandMadeTask> tasks;
  for (std::uint32_t i = 0; i < length; ++i) {
    std::vector<std::uint32_t> successors;
    if (i + 1 < length) successors.push_back(i + 1);
    tasks.push_back(MakeTask("add", {Floats(0, elements), Floats(0, elements), Floats(1, elements)},
                             {}, successors));
  }
  return tasks;
}

TEST_P(DeviceConformanceTest, ABatchRunsAndItsResultIsThereWhenItsCompletionIs) {
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(2, 3), Floats(0, 3), Floats(1, 3)})}, 3);
  const DeviceAddress a = rig().NewFloats({1, 2, 3});
  const DeviceAddress b = rig().NewFloats({10, 20, 30});
  const DeviceAddress out = rig().NewFloats({0, 0, 0});
  const std::uint64_t id = rig().Publish(add, {a, b, out});
  rig().Launch();
  EXPECT_EQ(rig().Await(), (CompletionView{id, abi::BatchCode::kOk, 0}));
  EXPECT_EQ(rig().ReadFloats(out, 3), (std::vector<float>{11, 22, 33}));
}

TEST_P(DeviceConformanceTest, OneProgramRunsWithOtherBindingsEachTime) {
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(2, 1), Floats(0, 1), Floats(1, 1)})}, 3);
  rig().Launch();
  DeviceAddress sum = rig().NewFloats({1});
  for (int i = 0; i < 10; ++i) {
    const DeviceAddress next = rig().NewFloats({0});
    EXPECT_EQ(rig().Run(add, {sum, sum, next}).code, abi::BatchCode::kOk);
    sum = next;
  }
  EXPECT_EQ(rig().ReadFloats(sum, 1), std::vector<float>{1024});
}

TEST_P(DeviceConformanceTest, AnEmptyProgramCompletes) {
  rig().Launch();
  EXPECT_EQ(rig().Run(rig().Load({}, 0), {}).code, abi::BatchCode::kOk);
}

TEST_P(DeviceConformanceTest, ATaskRunsAfterTheOneItDependsOn) {
  const LoadedProgram program =
      rig().Load({MakeTask("add", {Floats(1, 1000), Floats(0, 1000), Floats(0, 1000)}, {}, {1}),
                  MakeTask("mul", {Floats(2, 1000), Floats(1, 1000), Floats(1, 1000)})},
                 3);
  const DeviceAddress a = rig().NewFloats(std::vector<float>(1000, 3));
  const DeviceAddress doubled = rig().NewBytes(4000);
  const DeviceAddress squared = rig().NewBytes(4000);
  rig().Launch();
  EXPECT_EQ(rig().Run(program, {a, doubled, squared}).code, abi::BatchCode::kOk);
  EXPECT_THAT(rig().ReadFloats(squared, 1000), Each(36.0f));
}

TEST_P(DeviceConformanceTest, AChainOfTasksRunsInOrder) {
  constexpr std::uint32_t kLength = 300;
  const LoadedProgram chain = rig().Load(Chain(kLength, 64), 2);
  const DeviceAddress sum = rig().NewFloats(std::vector<float>(64, 0));
  const DeviceAddress one = rig().NewFloats(std::vector<float>(64, 1));
  rig().Launch();
  EXPECT_EQ(rig().Run(chain, {sum, one}).code, abi::BatchCode::kOk);
  EXPECT_THAT(rig().ReadFloats(sum, 64), Each(static_cast<float>(kLength)));
}

TEST_P(DeviceConformanceTest, AChainOfWideTasksRunsInOrder) {
  constexpr std::int64_t kElements = 1 << 18;
  std::vector<worker::HandMadeTask> tasks = Chain(8, kElements);
  ASSERT_GT(tasks[0].tiles, 1u);
  const LoadedProgram chain = rig().Load(tasks, 2);
  const DeviceAddress sum = rig().NewFloats(std::vector<float>(kElements, 0));
  const DeviceAddress one = rig().NewFloats(std::vector<float>(kElements, 1));
  rig().Launch();
  EXPECT_EQ(rig().Run(chain, {sum, one}).code, abi::BatchCode::kOk);
  EXPECT_TRUE(rig().ReadFloats(sum, kElements) == std::vector<float>(kElements, 8));
}

TEST_P(DeviceConformanceTest, ATaskWaitsForAllThatItDependsOn) {
  // Tasks 0 to 99 each fill one float; task 100 sums them.
  constexpr std::uint32_t kCount = 100;
  std::vector<worker::HandMadeTask> tasks;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    tasks.push_back(
        MakeTask("add", {Floats(1, 1, i * 4u), Floats(0, 1), Floats(0, 1)}, {}, {kCount}));
  }
  abi::View total = Floats(2, 1);
  total.dims = 0;
  tasks.push_back(MakeTask("sum", {total, Floats(1, kCount)}));
  const LoadedProgram program = rig().Load(tasks, 3);
  const DeviceAddress one = rig().NewFloats({1});
  const DeviceAddress terms = rig().NewBytes(kCount * sizeof(float));
  const DeviceAddress out = rig().NewFloats({0});
  rig().Launch();
  EXPECT_EQ(rig().Run(program, {one, terms, out}).code, abi::BatchCode::kOk);
  EXPECT_EQ(rig().ReadFloats(out, 1), std::vector<float>{2.0f * kCount});
}

TEST_P(DeviceConformanceTest, IndependentTasksRunAtOnce) {
  if (device().worker().runner_blocks() < 2) GTEST_SKIP() << "one block runs one task at a time";
  constexpr std::int64_t kTimeoutMs = 10000;
  const LoadedProgram program = rig().Load(
      {MakeTask("test.rendezvous", {Booleans(0, 1, 0), Integers(1, 2)}, {0, 1, kTimeoutMs}),
       MakeTask("test.rendezvous", {Booleans(0, 1, 1), Integers(1, 2)}, {1, 0, kTimeoutMs})},
      2);
  const DeviceAddress met = rig().NewBytes(2);
  const DeviceAddress flags = rig().NewBytes(16);
  rig().Launch();
  EXPECT_EQ(rig().Run(program, {met, flags}).code, abi::BatchCode::kOk);
  EXPECT_THAT(rig().ReadBytes(met, 2), Each(std::byte{1}));
}

TEST_P(DeviceConformanceTest, BatchesOfDifferentWindowsRunAtOnce) {
  if (device().worker().runner_blocks() < 2) GTEST_SKIP() << "one block runs one task at a time";
  const LoadedProgram first = rig().Load(
      {MakeTask("test.rendezvous", {Booleans(0, 1, 0), Integers(1, 2)}, {0, 1, 10000})}, 2);
  const LoadedProgram second = rig().Load(
      {MakeTask("test.rendezvous", {Booleans(0, 1, 1), Integers(1, 2)}, {1, 0, 10000})}, 2);
  const DeviceAddress met = rig().NewBytes(2);
  const DeviceAddress flags = rig().NewBytes(16);
  rig().Publish(first, {met, flags}, 7);
  rig().Publish(second, {met, flags}, 63);
  rig().Launch();
  EXPECT_EQ(rig().Await(63).code, abi::BatchCode::kOk);
  EXPECT_EQ(rig().Await(7).code, abi::BatchCode::kOk);
  EXPECT_THAT(rig().ReadBytes(met, 2), Each(std::byte{1}));
}

TEST_P(DeviceConformanceTest, AnOperatorsFailureNamesItsCodeAndItsTaskAndTheNextBatchIsFine) {
  const LoadedProgram failing =
      rig().Load({MakeTask("nop", {}, {}, {1}), MakeTask("test.fail", {}, {5})}, 0);
  const LoadedProgram fine = rig().Load({MakeTask("nop", {})}, 0);
  rig().Launch();
  const CompletionView completion = rig().Run(failing, {});
  EXPECT_EQ(completion.code, abi::BatchCode::kOperatorFailed);
  EXPECT_EQ(completion.detail, (std::uint64_t{5} << 32) | 1);
  EXPECT_EQ(rig().Run(fine, {}).code, abi::BatchCode::kOk);
}

TEST_P(DeviceConformanceTest, AThousandBatchesReuseTheWindowsOfOneLaunch) {
  constexpr std::uint64_t kBatches = 1000;
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(0, 1), Floats(0, 1), Floats(1, 1)})}, 2);
  std::vector<DeviceAddress> sums;
  for (std::uint32_t window = 0; window < abi::kWindow; ++window) {
    sums.push_back(rig().NewFloats({0}));
  }
  const DeviceAddress one = rig().NewFloats({1});
  rig().Launch();
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    const auto window = static_cast<std::uint32_t>(i % abi::kWindow);
    if (i >= abi::kWindow) {
      ASSERT_EQ(rig().Await(window).code, abi::BatchCode::kOk);
    }
    rig().Publish(add, {sums[window], one}, window);
  }
  float total = 0;
  for (std::uint32_t window = 0; window < abi::kWindow; ++window) {
    ASSERT_EQ(rig().Await(window).code, abi::BatchCode::kOk);
    total += rig().ReadFloats(sums[window], 1)[0];
  }
  EXPECT_EQ(total, static_cast<float>(kBatches));
  EXPECT_EQ(rig().launches(), 1u);
}

TEST_P(DeviceConformanceTest, TheWorkerLeavesAtAParkAndWhatFollowsWaitsForTheNextLaunch) {
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(0, 1), Floats(0, 1), Floats(1, 1)})}, 2);
  const DeviceAddress sum = rig().NewFloats({0});
  const DeviceAddress one = rig().NewFloats({1});
  EXPECT_EQ(device().worker().FinishedLaunches().value(), 0u);
  rig().Publish(add, {sum, one}, 0);
  rig().Park();
  rig().Publish(add, {sum, one}, 1);
  rig().Launch();
  rig().Await(0);
  rig().AwaitFinished(1);
  EXPECT_EQ(rig().queue().heartbeat().left, 1u);
  EXPECT_EQ(rig().ReadFloats(sum, 1), std::vector<float>{1});
  EXPECT_EQ(rig().queue().TakeCompletion(1), std::nullopt);
  rig().Launch();
  rig().Await(1);
  EXPECT_EQ(rig().ReadFloats(sum, 1), std::vector<float>{2});
  rig().ParkAll();
  EXPECT_EQ(rig().queue().heartbeat().left, 2u);
  EXPECT_EQ(device().worker().FinishedLaunches().value(), 2u);
}

TEST_P(DeviceConformanceTest, ALaunchForEachBatchLosesNoneOfThem) {
  constexpr std::uint64_t kBatches = 500;
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(0, 1), Floats(0, 1), Floats(1, 1)})}, 2);
  const DeviceAddress sum = rig().NewFloats({0});
  const DeviceAddress one = rig().NewFloats({1});
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    const auto window = static_cast<std::uint32_t>(i % abi::kWindow);
    rig().Publish(add, {sum, one}, window);
    rig().Park();
    rig().Launch();
    // Some launches queue up behind others.
    if (i % 3 == 2 || i + 1 == kBatches) {
      for (std::uint64_t k = i - i % 3; k <= i; ++k) {
        ASSERT_EQ(rig().Await(static_cast<std::uint32_t>(k % abi::kWindow)).code,
                  abi::BatchCode::kOk);
      }
    }
  }
  rig().AwaitFinished(kBatches);
  EXPECT_EQ(rig().ReadFloats(sum, 1), std::vector<float>{kBatches});
  EXPECT_EQ(rig().queue().heartbeat().left, kBatches);
}

TEST_P(DeviceConformanceTest, TheHeartbeatCountsTilesAndNamesTheLaunch) {
  const LoadedProgram spin = rig().Load({MakeTask("test.spin", {}, {2})}, 0);
  rig().Launch();
  for (int i = 0; i < 5; ++i) rig().Run(spin, {});
  const abi::Heartbeat beat = rig().queue().heartbeat();
  EXPECT_EQ(beat.launch, 1u);
  EXPECT_GE(beat.progress, 4u);  // The last one may not have been told yet.
  EXPECT_GT(beat.clock_ns, 0u);
  rig().Run(spin, {});
  EXPECT_GT(rig().queue().heartbeat().clock_ns, beat.clock_ns);
}

}  // namespace
}  // namespace gpuos::device
