// An executor that is lost while it works: its batches are ABORTED, the next ones work.
#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/control/integration/gpuosd_process.h"
#include "daemon/control/integration/raw_client.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/types.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

using grpc::StatusCode;

v1::Program Spin(std::int64_t ms) {
  v1::Program program;
  v1::Task& task = *program.add_tasks();
  task.set_op("test.spin");
  v1::Attribute& attribute = *task.add_attributes();
  attribute.set_name("ms");
  attribute.mutable_value()->set_i(ms);
  return program;
}

class GpuosdExecutorDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client_.OpenAndAttach().ok());
    ASSERT_TRUE(client_.CreateSegment(4096, &out_).ok());
    ASSERT_EQ(client_.SendDescriptor(1, memory_.get()).code(), 0);
    v1::RegisterSegmentResponse registered;
    ASSERT_TRUE(client_.RegisterDescriptor(1, &registered).ok());
    in_ = std::make_unique<MappedSegment>(registered.segment(), memory_, 4096);
    ASSERT_TRUE(client_.CreateProgram(OneTask("neg", 2, 4), &negate_).ok());
    ASSERT_TRUE(client_.CreateProgram(Spin(20000), &spin_).ok());
  }

  pid_t ExecutorPid() { return client_.GetStatus().devices(0).executor_pid(); }

  void ExpectBatchesWork(float value) {
    in_->floats()[0] = value;
    const grpc::Status status = client_.Submit(negate_, {out_->id(), in_->id()}, /*wait=*/true);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(out_->floats()[0], -value);
  }

  TemporaryDirectory directory_;
  GpuosdProcess gpuosd_{{.socket = directory_.File("s")}};
  RawClient client_{directory_.File("s")};
  const link::UniqueFd memory_ = MakeTestMemory(4096, /*sealed=*/true);
  std::unique_ptr<MappedSegment> in_, out_;
  std::uint64_t negate_ = 0, spin_ = 0;
};

TEST_F(GpuosdExecutorDeathTest, ARunningBatchIsAbortedAndTheNextOneOfTheSameSessionWorks) {
  ExpectBatchesWork(1.0f);
  const pid_t first = ExecutorPid();
  std::thread killer([first] {
    absl::SleepFor(absl::Milliseconds(200));
    kill(first, SIGKILL);
  });
  const grpc::Status aborted = client_.Submit(spin_, {}, /*wait=*/true);
  killer.join();
  EXPECT_EQ(aborted.error_code(), StatusCode::ABORTED);
  EXPECT_NE(aborted.error_message().find("host:0"), std::string::npos);
  EXPECT_NE(aborted.error_message().find("signal 9"), std::string::npos);

  ExpectBatchesWork(2.0f);
  const v1::DeviceStatus device = client_.GetStatus().devices(0);
  EXPECT_NE(device.executor_pid(), first);
  EXPECT_EQ(device.executor_restarts(), 1u);
  EXPECT_NE(device.last_failure().find("signal 9"), std::string::npos);
  EXPECT_EQ(device.state(), v1::EXECUTOR_STATE_READY);
}

TEST_F(GpuosdExecutorDeathTest,
       BatchesSentAheadAreReportedAbortedByTheNextWaitAndTheNextBatchWorks) {
  std::uint64_t value = 0;
  ASSERT_TRUE(client_.Submit(spin_, {}, /*wait=*/false, &value).ok());
  ASSERT_TRUE(client_.Submit(spin_, {}, /*wait=*/false, &value).ok());
  kill(ExecutorPid(), SIGKILL);
  EXPECT_EQ(client_.Wait(value).error_code(), StatusCode::ABORTED);
  EXPECT_TRUE(client_.Wait(value - 1).ok()) << "it was told already";
  ExpectBatchesWork(3.0f);
  EXPECT_TRUE(client_.Wait(value + 1).ok());
}

TEST_F(GpuosdExecutorDeathTest, AnotherClientsSessionLivesOnToo) {
  RawClient other(directory_.File("s"));
  ASSERT_TRUE(other.OpenAndAttach().ok());
  std::unique_ptr<MappedSegment> segment;
  ASSERT_TRUE(other.CreateSegment(4096, &segment).ok());
  std::uint64_t program = 0;
  ASSERT_TRUE(other.CreateProgram(OneTask("exp", 2, 1), &program).ok());
  kill(ExecutorPid(), SIGKILL);
  std::unique_ptr<MappedSegment> more;
  // Each step may still meet the dying executor once.
  ASSERT_TRUE(Eventually([&] { return other.CreateSegment(4096, &more).ok(); }));
  const grpc::Status status = other.Submit(program, {segment->id(), more->id()}, true);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(segment->floats()[0], 1.0f);
  ExpectBatchesWork(4.0f);
}

TEST_F(GpuosdExecutorDeathTest, AReleaseThatTheExecutorCannotAnswerCountsAsDone) {
  std::uint64_t value = 0;
  ASSERT_TRUE(client_.Submit(spin_, {}, /*wait=*/false, &value).ok());
  const pid_t executor = ExecutorPid();
  kill(executor, SIGSTOP);
  std::thread killer([executor] {
    absl::SleepFor(absl::Milliseconds(100));
    kill(executor, SIGKILL);
  });
  EXPECT_TRUE(client_.ReleaseSegment(in_->id()).ok());
  EXPECT_TRUE(client_.ReleaseProgram(spin_).ok());
  killer.join();
  EXPECT_TRUE(client_.Close().ok());
}

}  // namespace
}  // namespace gpuos::control
