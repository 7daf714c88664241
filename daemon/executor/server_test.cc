// The real binary as a child, spoken to as gpuosd does.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "daemon/executor/core_harness.h"
#include "daemon/executor/executor_process.h"
#include "daemon/executor/exit_codes.h"
#include "daemon/link/unique_fd.h"
#include "gmock/gmock.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gpuos::executor {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSession = 1, kSegment = 11, kProgram = 21;

std::string Binary() {
  return std::string(std::getenv("TEST_SRCDIR")) + "/gpuosd/daemon/executor/gpuos-executor-test";
}

v1::ExecutorRequest StartIn(v1::Residence residence) {
  v1::ExecutorRequest request;
  request.mutable_start()->set_residence(residence);
  return request;
}
v1::ExecutorRequest Ping() {
  v1::ExecutorRequest request;
  request.mutable_ping();
  return request;
}
v1::ExecutorRequest GetStatus() {
  v1::ExecutorRequest request;
  request.mutable_status();
  return request;
}
v1::ExecutorRequest OpenSession() {
  v1::ExecutorRequest request;
  request.mutable_open_session()->set_session(kSession);
  return request;
}
v1::ExecutorRequest Import() {
  v1::ExecutorRequest request;
  request.mutable_import_segment()->set_session(kSession);
  request.mutable_import_segment()->set_segment(kSegment);
  request.mutable_import_segment()->set_memory_file(true);
  return request;
}
v1::ExecutorRequest Load(const ProgramBuilder& builder) {
  v1::ExecutorRequest request;
  request.mutable_load_program()->set_session(kSession);
  request.mutable_load_program()->set_program_id(kProgram);
  *request.mutable_load_program()->mutable_program() = builder.program();
  return request;
}
v1::ExecutorRequest RunBatch(const std::vector<std::uint64_t>& offsets) {
  v1::ExecutorRequest request;
  request.mutable_run_batch()->set_session(kSession);
  request.mutable_run_batch()->set_program_id(kProgram);
  for (const std::uint64_t offset : offsets) {
    v1::Binding& binding = *request.mutable_run_batch()->add_bindings();
    binding.set_segment(kSegment);
    binding.set_offset(offset);
  }
  return request;
}

ProgramBuilder Spin(std::int64_t ms) {
  ProgramBuilder builder;
  builder.Task("test.spin", {}, {{"ms", ms}});
  return builder;
}

class ServerTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& flags = {},
             v1::Residence residence = v1::RESIDENCE_ELASTIC) {
    process_.emplace(Binary(), flags);
    start_ = process_->Call(StartIn(residence)).start();
  }
  // A session with a segment over `file_` and a program.
  void Prepare(const ProgramBuilder& builder) {
    ASSERT_EQ(process_->Call(OpenSession()).code(), 0);
    ASSERT_EQ(process_->Call(Import(), file_.fd()).code(), 0);
    const v1::ExecutorResponse loaded = process_->Call(Load(builder));
    ASSERT_EQ(loaded.code(), 0) << loaded.message();
  }

  MemoryFile file_{4096};
  std::optional<ExecutorProcess> process_;
  v1::StartResponse start_;
};

TEST_F(ServerTest, StartsAnswersAPingAndStops) {
  Start();
  EXPECT_EQ(start_.device().name(), "host:0");
  EXPECT_EQ(start_.sharing(), "threads");
  ASSERT_GT(start_.operators_size(), 20);
  EXPECT_EQ(start_.operators(0).name(), "nop");
  EXPECT_EQ(process_->Call(Ping()).code(), 0);
  v1::ExecutorRequest stop;
  stop.mutable_stop();
  EXPECT_EQ(process_->Call(stop).code(), 0);
  EXPECT_EQ(process_->WaitForExit(), kExitOk);
}

TEST_F(ServerTest, RunsABatchAndCountsIt) {
  Start();
  ProgramBuilder add;
  const std::uint32_t to = add.Slot(64), a = add.Slot(64), b = add.Slot(64);
  add.Task("add", {MakeView(to, {16}), MakeView(a, {16}), MakeView(b, {16})});
  Prepare(add);
  for (int i = 0; i < 16; ++i) {
    file_.at<float>(64)[i] = static_cast<float>(i);
    file_.at<float>(128)[i] = 0.5f;
  }
  EXPECT_EQ(process_->Call(RunBatch({0, 64, 128})).code(), 0);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(file_.at<float>(0)[i], static_cast<float>(i) + 0.5f);
  const v1::StatusResponse status = process_->Call(GetStatus()).status();
  EXPECT_EQ(status.counters().batches_completed(), 1u);
  EXPECT_EQ(status.counters().segment_bytes(), 4096u);
  EXPECT_EQ(status.operator_calls().at("add"), 1u);
  ASSERT_EQ(status.sessions_size(), 1);
  EXPECT_EQ(status.sessions(0).batches_completed(), 1u);
}

TEST_F(ServerTest, RefusesBadRequestsAndServesOn) {
  Start();
  ASSERT_EQ(process_->Call(OpenSession()).code(), 0);
  const auto code = [&](const v1::ExecutorRequest& request, int fd = -1) {
    return static_cast<absl::StatusCode>(process_->Call(request, fd).code());
  };
  EXPECT_EQ(code({}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(StartIn(v1::RESIDENCE_UNSPECIFIED)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Import()), absl::StatusCode::kInvalidArgument) << "no descriptor";
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  const link::UniqueFd reads(pipe_ends[0]), writes(pipe_ends[1]);
  EXPECT_EQ(code(Import(), reads.get()), absl::StatusCode::kInvalidArgument);
  const link::UniqueFd directory(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(code(Import(), directory.get()), absl::StatusCode::kInvalidArgument);
  v1::ExecutorRequest cuda = Import();
  cuda.mutable_import_segment()->mutable_cuda_ipc()->set_handle(std::string(64, 'x'));
  EXPECT_EQ(code(cuda), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(RunBatch({})), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(Ping()), absl::StatusCode::kOk);
}

TEST_F(ServerTest, EndsWhenTheLinkClosesAlsoWhileABatchRuns) {
  Start({}, v1::RESIDENCE_DEDICATED);
  Prepare(Spin(100));
  process_->Send(RunBatch({}));
  EXPECT_EQ(process_->Call(GetStatus()).status().counters().worker_launches(), 1u);
  process_->CloseLink();
  EXPECT_EQ(process_->WaitForExit(), kExitOk);
}

TEST_F(ServerTest, EndsWhenThePeerSpeaksNonsense) {
  Start();
  const unsigned char nonsense[8] = {4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  ASSERT_EQ(write(process_->link().fd(), nonsense, sizeof(nonsense)), 8);
  EXPECT_EQ(process_->Receive().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(process_->WaitForExit(), kExitFailed);
}

TEST_F(ServerTest, EndsWhenALengthIsBeyondTheLimit) {
  Start();
  const unsigned char length[4] = {0xff, 0xff, 0xff, 0xff};
  ASSERT_EQ(write(process_->link().fd(), length, sizeof(length)), 4);
  EXPECT_EQ(process_->WaitForExit(), kExitFailed);
}

TEST_F(ServerTest, LeavesSignalsToGpuosd) {
  Start();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) kill(process_->pid(), signal);
  EXPECT_EQ(process_->Call(Ping()).code(), 0);
}

TEST_F(ServerTest, ThatIsKilledIsSeenAsAClosedLink) {
  Start();
  Prepare(Spin(1000));
  process_->Send(RunBatch({}));
  kill(process_->pid(), SIGKILL);
  EXPECT_EQ(process_->Receive().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(process_->WaitForExit(), -SIGKILL);
}

TEST_F(ServerTest, SaysGoodbyeWhenTheWorkerHangs) {
  Start({"--watchdog-ms=100"});
  Prepare(Spin(30000));
  process_->Send(RunBatch({}));
  const auto goodbye = process_->Receive();
  ASSERT_TRUE(goodbye.ok()) << goodbye.status();
  EXPECT_TRUE(goodbye->has_goodbye());
  EXPECT_EQ(goodbye->id(), 0u);
  EXPECT_THAT(goodbye->message(), HasSubstr("finished nothing for 100 ms"));
  EXPECT_EQ(process_->WaitForExit(), kExitDeviceLost);
}

TEST_F(ServerTest, AnswersManyRequestsInFlight) {
  Start({}, v1::RESIDENCE_DEDICATED);
  Prepare(Spin(0));
  constexpr int kRequests = 2000;
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < kRequests; ++i) ids.push_back(process_->Send(RunBatch({})));
  for (const std::uint64_t id : ids) {
    const auto response = process_->Receive();
    ASSERT_TRUE(response.ok()) << response.status();
    ASSERT_EQ(response->code(), 0) << response->message();
    ASSERT_EQ(response->id(), id);
  }
  EXPECT_EQ(process_->Call(GetStatus()).status().counters().worker_launches(), 1u);
}

// Times that the main thread gave up the processor of its own accord.
std::uint64_t Sleeps(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string key; status >> key;) {
    if (key == "voluntary_ctxt_switches:") {
      std::uint64_t count = 0;
      status >> count;
      return count;
    }
  }
  ADD_FAILURE() << "no count of context switches";
  return 0;
}

std::uint64_t SleepsIn(pid_t pid, std::chrono::milliseconds duration) {
  const std::uint64_t before = Sleeps(pid);
  std::this_thread::sleep_for(duration);
  return Sleeps(pid) - before;
}

TEST_F(ServerTest, SleepsWithoutWakingWhileThereIsNothingToDo) {
  Start();
  ASSERT_EQ(process_->Call(Ping()).code(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // The worker leaves.
  EXPECT_EQ(SleepsIn(process_->pid(), std::chrono::milliseconds(500)), 0u);
}

TEST_F(ServerTest, LooksAtAnIdleDedicatedWorkerOnlyAFewTimesASecond) {
  Start({}, v1::RESIDENCE_DEDICATED);
  ASSERT_EQ(process_->Call(Ping()).code(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(SleepsIn(process_->pid(), std::chrono::milliseconds(500)), 6u);
}

TEST(ExecutorBinary, ListsDevicesAsJsonLines) {
  const Ran ran = RunToEnd(Binary(), {"--list-devices"});
  EXPECT_EQ(ran.exit_code, kExitOk);
  const std::size_t last_line = ran.output.rfind('\n', ran.output.size() - 2) + 1;
  const auto host = nlohmann::json::parse(ran.output.substr(last_line));
  EXPECT_EQ(host.at("name"), "host:0");
  EXPECT_EQ(host.at("uuid"), "");
  EXPECT_GT(host.at("memory_bytes").get<std::uint64_t>(), 1u << 20);
  EXPECT_TRUE(host.contains("model"));
  const bool no_driver = ran.output.find("cuda:") == std::string::npos;
  EXPECT_EQ(host.contains("remark"), no_driver) << ran.output;
}

TEST(ExecutorBinary, RefusesFlagsThatItCannotServeWith) {
  EXPECT_EQ(RunToEnd(Binary(), {}).exit_code, kExitUsage);
  EXPECT_EQ(RunToEnd(Binary(), {"--device=host:0", "--link-fd=77"}).exit_code, kExitUsage);
}

TEST(ExecutorBinary, SaysWhyItCannotTakeTheDevice) {
  ExecutorProcess process(Binary(), {"--device=tpu:0"});
  const auto goodbye = process.Receive();
  ASSERT_TRUE(goodbye.ok()) << goodbye.status();
  EXPECT_TRUE(goodbye->has_goodbye());
  EXPECT_THAT(goodbye->message(), HasSubstr("--device is tpu:0"));
  EXPECT_EQ(process.WaitForExit(), kExitFailed);
}

}  // namespace
}  // namespace gpuos::executor
