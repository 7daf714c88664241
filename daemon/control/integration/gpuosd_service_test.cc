// gpuosd as a service: its socket files, its manager, its start and its end.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/control/integration/gpuosd_process.h"
#include "daemon/control/integration/raw_client.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/types.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool IsGone(pid_t pid) { return kill(pid, 0) != 0; }

// Sends one message to a method of any kind and returns the first answer's bytes.
std::string CallGeneric(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const std::string& request) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  SetDeadline(context);
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(&context, method, &queue);
  const auto step = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  if (!step()) return "";
  grpc::Slice slice(request);
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  if (!step()) return "";
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  if (!step()) return "";
  grpc::Slice bytes;
  answer.DumpToSingleSlice(&bytes);
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  step();
  return std::string(bytes.begin(), bytes.end());
}

class GpuosdServiceTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::string socket_ = directory_.File("s");
  const std::string log_ = directory_.File("log");
};

TEST_F(GpuosdServiceTest, TellsItsManagerWhenItIsReadyAndWhenItStops) {
  for (const std::string& name : {directory_.File("notify"), absl::StrCat("@gpuosd-", getpid())}) {
    NotifySocket manager(name);
    GpuosdProcess gpuosd({.socket = socket_,
                          .fake_executor = true,
                          .environment = {"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=100000"}});
    EXPECT_TRUE(manager.WaitFor("READY=1"));
    RawClient client(socket_);
    EXPECT_EQ(client.GetStatus().devices(0).state(), v1::EXECUTOR_STATE_READY);
    EXPECT_TRUE(manager.WaitFor("WATCHDOG=1"));
    EXPECT_EQ(gpuosd.Stop(), 0);
    EXPECT_TRUE(manager.WaitFor("STOPPING=1"));
  }
}

TEST_F(GpuosdServiceTest, ItsFirstLineSaysTheVersionTheDeviceAndWhy) {
  GpuosdProcess gpuosd({.socket = socket_, .fake_executor = true, .log_file = log_});
  RawClient client(socket_);
  ASSERT_TRUE(client.Open().ok());
  std::string first = ReadFile(log_);
  first = first.substr(0, first.find('\n'));
  EXPECT_NE(first.find("gpuosd 0."), std::string::npos) << first;
  EXPECT_NE(first.find("--device=host; using host:0"), std::string::npos) << first;
}

TEST_F(GpuosdServiceTest, TheEndParksTheWorkerFinishesWhatRunsAndRemovesTheSockets) {
  GpuosdProcess gpuosd({.socket = socket_, .flags = {"--residence=dedicated"}, .log_file = log_});
  RawClient client(socket_);
  ASSERT_TRUE(client.OpenAndAttach().ok());
  v1::Program program;
  v1::Task& task = *program.add_tasks();
  task.set_op("test.spin");
  task.add_attributes()->set_name("ms");
  task.mutable_attributes(0)->mutable_value()->set_i(400);
  std::uint64_t id = 0;
  ASSERT_TRUE(client.CreateProgram(program, &id).ok());
  const v1::DeviceStatus device = client.GetStatus().devices(0);
  EXPECT_EQ(device.residence(), v1::RESIDENCE_DEDICATED);

  grpc::Status ran(grpc::StatusCode::UNKNOWN, "");
  std::thread submit([&] { ran = client.Submit(id, {}, /*wait=*/true); });
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_EQ(gpuosd.Stop(), 0);
  submit.join();
  EXPECT_TRUE(ran.ok()) << ran.error_message();
  EXPECT_TRUE(IsGone(device.executor_pid()));
  for (const char* suffix : {"", ".attach", ".lock", ".new"}) {
    EXPECT_FALSE(std::filesystem::exists(socket_ + suffix)) << suffix;
  }
  EXPECT_EQ(ReadFile(log_).find("did not stop in time"), std::string::npos);
}

TEST_F(GpuosdServiceTest, ASecondSignalStopsItAtOnce) {
  GpuosdProcess gpuosd({.socket = socket_});
  RawClient client(socket_);
  ASSERT_TRUE(client.OpenAndAttach().ok());
  v1::Program program;
  v1::Task& task = *program.add_tasks();
  task.set_op("test.spin");
  task.add_attributes()->set_name("ms");
  task.mutable_attributes(0)->mutable_value()->set_i(20000);
  std::uint64_t id = 0;
  ASSERT_TRUE(client.CreateProgram(program, &id).ok());
  ASSERT_TRUE(client.Submit(id, {}, /*wait=*/false).ok());
  const absl::Time start = absl::Now();
  gpuosd.Signal(SIGTERM);
  absl::SleepFor(absl::Milliseconds(100));
  gpuosd.Signal(SIGINT);
  EXPECT_EQ(gpuosd.WaitForExit(), 0);
  EXPECT_LT(absl::Now() - start, absl::Seconds(4));
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(GpuosdServiceTest, ASecondOneOnTheSamePathFailsAndNamesTheFirst) {
  GpuosdProcess first({.socket = socket_, .fake_executor = true});
  RawClient client(socket_);
  ASSERT_TRUE(client.Open().ok());
  GpuosdProcess second({.socket = socket_, .fake_executor = true, .log_file = log_});
  EXPECT_EQ(second.WaitForExit(), 1);
  EXPECT_NE(ReadFile(log_).find(absl::StrCat("another gpuosd (pid ", first.pid(), ") serves")),
            std::string::npos)
      << ReadFile(log_);
  EXPECT_TRUE(client.Open().ok());
}

TEST_F(GpuosdServiceTest, TheFilesOfAKilledOneAreReplaced) {
  pid_t executor = 0;
  {
    GpuosdProcess killed({.socket = socket_, .fake_executor = true});
    RawClient client(socket_);
    ASSERT_TRUE(client.Open().ok());
    executor = client.GetStatus().devices(0).executor_pid();
    killed.Signal(SIGKILL);
    EXPECT_EQ(killed.WaitForExit(), -SIGKILL);
  }
  ASSERT_TRUE(std::filesystem::exists(socket_));
  EXPECT_TRUE(Eventually([&] { return IsGone(executor); }));
  GpuosdProcess next({.socket = socket_, .fake_executor = true});
  RawClient client(socket_);
  EXPECT_TRUE(client.OpenAndAttach().ok());
  struct stat about = {};
  ASSERT_EQ(stat(socket_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0660u);
}

TEST_F(GpuosdServiceTest, EndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  GpuosdProcess gpuosd(
      {.socket = socket_, .fake_executor = true, .flags = {absl::StrCat("--parent-fd=", ends[0])}});
  close(ends[0]);
  RawClient client(socket_);
  ASSERT_TRUE(client.Open().ok());
  close(ends[1]);
  EXPECT_EQ(gpuosd.WaitForExit(), 0);
}

TEST_F(GpuosdServiceTest, WhatCannotBeServedIsSaidInASentence) {
  const struct {
    std::string flag;
    std::string sentence;
    int exit_code;
  } cases[] = {
      {"--device=cuda:77", "--device names \"cuda:77\"", 1},
      {"--executor=/nowhere/gpuos-executor", "cannot start /nowhere/gpuos-executor", 1},
      {"--socket=relative", "not an absolute path", 1},
      {"--socket=/" + std::string(120, 'x'), "more than the 107", 1},
      {"--socket=/nowhere/s", "/nowhere/s.lock", 1},
      {"--socket-mode=9", "--socket-mode is 9", 2},
      {"--residence=forever", "forever", 2},
  };
  for (const auto& [flag, sentence, exit_code] : cases) {
    std::filesystem::remove(log_);
    GpuosdProcess gpuosd(
        {.socket = socket_, .fake_executor = true, .flags = {flag}, .log_file = log_});
    EXPECT_EQ(gpuosd.WaitForExit(), exit_code) << flag;
    EXPECT_NE(ReadFile(log_).find(sentence), std::string::npos) << flag << "\n" << ReadFile(log_);
  }
}

TEST_F(GpuosdServiceTest, AnExecutorThatDoesNotStartIsReportedAndTriedAgain) {
  GpuosdProcess gpuosd(
      {.socket = socket_, .fake_executor = true, .flags = {"--executor-arg=--refuse-start"}});
  RawClient client(socket_);
  EXPECT_TRUE(Eventually([&] {
    const v1::GetStatusResponse status = client.GetStatus();
    return status.devices_size() == 1 && status.devices(0).executor_restarts() >= 2;
  }));
  const v1::DeviceStatus device = client.GetStatus().devices(0);
  EXPECT_NE(device.last_failure().find("the device is on fire"), std::string::npos);
  grpc::ClientContext context;
  v1::OpenSessionResponse response;
  const grpc::Status status =
      client.control().OpenSession(&context, v1::OpenSessionRequest(), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(status.error_message().find("the device is on fire"), std::string::npos);
  EXPECT_EQ(gpuosd.Stop(), 0);
}

TEST_F(GpuosdServiceTest, HealthAndReflectionAreOn) {
  GpuosdProcess gpuosd({.socket = socket_, .fake_executor = true});
  RawClient client(socket_);
  ASSERT_TRUE(client.Open().ok());
  // HealthCheckResponse.status, field 1, is SERVING (1).
  EXPECT_EQ(CallGeneric(client.channel(), "/grpc.health.v1.Health/Check", ""), "\x08\x01");
  // ServerReflectionRequest.list_services, field 7.
  EXPECT_NE(CallGeneric(client.channel(),
                        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                        std::string("\x3a\x00", 2))
                .find("gpuos.v1.Control"),
            std::string::npos);
}

}  // namespace
}  // namespace gpuos::control
