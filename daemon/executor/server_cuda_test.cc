// The real binary over the stand-in for the GPU's driver, which has no descriptor that signals
// completions: the loop has to look for them.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "daemon/executor/executor_process.h"
#include "daemon/executor/exit_codes.h"
#include "gmock/gmock.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gpuos::executor {
namespace {

using ::testing::HasSubstr;

std::string InRunfiles(const std::string& path) {
  return std::string(std::getenv("TEST_SRCDIR")) + "/gpuosd/" + path;
}
std::string Binary() { return InRunfiles("daemon/executor/gpuos-executor-test"); }
std::string Driver() {
  return "--cuda-driver=" + InRunfiles("daemon/device/cuda/fake/libcuda.so.1");
}

class ServerCudaTest : public ::testing::Test {
 protected:
  void Start(v1::Residence residence, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--device=cuda:0", Driver()});
    process_.emplace(Binary(), flags);
    v1::ExecutorRequest start;
    start.mutable_start()->set_residence(residence);
    EXPECT_EQ(process_->Call(start).start().device().name(), "cuda:0");
    v1::ExecutorRequest open;
    open.mutable_open_session()->set_session(1);
    EXPECT_EQ(process_->Call(open).code(), 0);
  }
  void LoadSpin(std::int64_t ms) {
    v1::ExecutorRequest load;
    load.mutable_load_program()->set_session(1);
    load.mutable_load_program()->set_program_id(5);
    v1::Task& task = *load.mutable_load_program()->mutable_program()->add_tasks();
    task.set_op("test.spin");
    task.add_attributes()->set_name("ms");
    task.mutable_attributes(0)->mutable_value()->set_i(ms);
    EXPECT_EQ(process_->Call(load).code(), 0);
  }
  std::uint64_t SendBatch() {
    v1::ExecutorRequest run;
    run.mutable_run_batch()->set_session(1);
    run.mutable_run_batch()->set_program_id(5);
    return process_->Send(run);
  }
  v1::ExecutorCounters Counters() {
    v1::ExecutorRequest status;
    status.mutable_status();
    return process_->Call(status).status().counters();
  }

  std::optional<ExecutorProcess> process_;
};

TEST_F(ServerCudaTest, LooksForCompletionsAndStops) {
  Start(v1::RESIDENCE_ELASTIC);
  LoadSpin(0);
  v1::ExecutorRequest ping;
  ping.mutable_ping();
  EXPECT_EQ(process_->Call(ping).code(), 0);
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t id = SendBatch();
    const auto response = process_->Receive();
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->id(), id);
    EXPECT_EQ(response->code(), 0) << response->message();
  }
  EXPECT_EQ(Counters().batches_completed(), 50u);
  v1::ExecutorRequest stop;
  stop.mutable_stop();
  EXPECT_EQ(process_->Call(stop).code(), 0);
  EXPECT_EQ(process_->WaitForExit(), kExitOk);
}

TEST_F(ServerCudaTest, ServesManyBatchesInOneLaunch) {
  Start(v1::RESIDENCE_DEDICATED);
  LoadSpin(0);
  for (int i = 0; i < 500; ++i) SendBatch();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(process_->Receive().ok());
  EXPECT_EQ(Counters().batches_completed(), 500u);
  EXPECT_EQ(Counters().worker_launches(), 1u);
  process_->CloseLink();
  EXPECT_EQ(process_->WaitForExit(), kExitOk);
}

TEST_F(ServerCudaTest, LaunchesOnceForEachBatchWhereLaunchesAreSynchronous) {
  Start(v1::RESIDENCE_ELASTIC, {"--synchronous-launch"});
  LoadSpin(0);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    SendBatch();
    ASSERT_TRUE(process_->Receive().ok());
    EXPECT_EQ(Counters().worker_launches(), i);
  }
}

TEST_F(ServerCudaTest, SaysGoodbyeWhenTheWorkerHangsAndLeavesTheDriverAlone) {
  Start(v1::RESIDENCE_ELASTIC, {"--watchdog-ms=100"});
  LoadSpin(30000);
  SendBatch();
  const auto goodbye = process_->Receive();
  ASSERT_TRUE(goodbye.ok()) << goodbye.status();
  EXPECT_TRUE(goodbye->has_goodbye());
  EXPECT_THAT(goodbye->message(), HasSubstr("finished nothing for 100 ms"));
  EXPECT_EQ(process_->WaitForExit(), kExitDeviceLost);
}

TEST(ExecutorBinary, ListsGpusBeforeTheHost) {
  const Ran ran = RunToEnd(Binary(), {"--list-devices", Driver()});
  EXPECT_EQ(ran.exit_code, kExitOk);
  const auto first = nlohmann::json::parse(ran.output.substr(0, ran.output.find('\n')));
  EXPECT_EQ(first.at("name"), "cuda:0");
  EXPECT_THAT(first.at("uuid").get<std::string>(), HasSubstr("GPU-"));
  EXPECT_THAT(ran.output, HasSubstr("host:0"));
}

}  // namespace
}  // namespace gpuos::executor
