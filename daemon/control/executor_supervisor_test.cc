#include "daemon/control/executor_supervisor.h"

#include <signal.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/control/executor_client.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);

// Over the stand-in that runs nothing (fake_executor.cc).
class ExecutorSupervisorTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    ExecutorSupervisor::Options options;
    options.device.set_name("host:0");
    options.program = std::string(std::getenv("TEST_SRCDIR")) + "/" +
                      std::getenv("TEST_WORKSPACE") + "/daemon/control/fake_executor";
    options.arguments = std::move(flags);
    options.restore = [this](const ExecutorSupervisor::SyncCall& call) {
      if (restore_) restore_(call);
    };
    options.stop_timeout = absl::Milliseconds(300);
    options.ask_period = absl::Milliseconds(20);
    options.hang_timeout = absl::Milliseconds(500);
    supervisor_ = std::make_unique<ExecutorSupervisor>(std::move(options));
    supervisor_->Start();
  }
  bool WaitFor(const std::function<bool()>& condition) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!condition()) {
      if (absl::Now() > deadline) return false;
      absl::SleepFor(absl::Milliseconds(2));
    }
    return true;
  }
  bool WaitUntilReady() {
    return WaitFor([&] { return supervisor_->CheckReady().ok(); });
  }

  absl::Status Call(v1::ExecutorRequest request) {
    auto answered = std::make_shared<absl::Notification>();
    auto result = std::make_shared<absl::Status>();
    supervisor_->Call(std::move(request), nullptr,
                      [=](const absl::StatusOr<v1::ExecutorResponse>& response) {
                        *result = response.status();
                        answered->Notify();
                      });
    if (!answered->WaitForNotificationWithTimeout(kPatience)) return absl::UnknownError("silence");
    return *result;
  }
  static v1::ExecutorRequest Open() {
    v1::ExecutorRequest request;
    request.mutable_open_session()->set_session(1);
    return request;
  }
  static v1::ExecutorRequest Load(const std::string& op) {
    v1::ExecutorRequest request;
    request.mutable_load_program()->set_session(1);
    request.mutable_load_program()->set_program_id(1);
    request.mutable_load_program()->mutable_program()->add_tasks()->set_op(op);
    return request;
  }
  static v1::ExecutorRequest RunIt() {
    v1::ExecutorRequest request;
    request.mutable_run_batch()->set_session(1);
    request.mutable_run_batch()->set_program_id(1);
    return request;
  }
  // Runs a batch whose program is `op`, in a fresh executor.
  absl::Status RunProgram(const std::string& op) {
    EXPECT_TRUE(WaitUntilReady());
    EXPECT_EQ(Call(Open()), absl::OkStatus());
    EXPECT_EQ(Call(Load(op)), absl::OkStatus());
    return Call(RunIt());
  }

  std::function<void(const ExecutorSupervisor::SyncCall&)> restore_;
  std::unique_ptr<ExecutorSupervisor> supervisor_;
};

TEST_F(ExecutorSupervisorTest, StartsTheExecutorAndPassesRequestsOn) {
  Start();
  EXPECT_EQ(RunProgram("add"), absl::OkStatus());
  EXPECT_EQ(RunProgram("fail"), absl::InternalError("this batch fails"));
  ASSERT_EQ(supervisor_->operators().size(), 1u);
  EXPECT_EQ(supervisor_->status().sharing(), "threads");
  EXPECT_TRUE(WaitFor([&] { return supervisor_->status().counters().batches_completed() == 1; }));
}

TEST_F(ExecutorSupervisorTest, ALostExecutorAbortsWhatItHadAndIsReplaced) {
  for (const std::string op : {"die", "goodbye", "garbage"}) {
    Start();
    const absl::Status status = RunProgram(op);
    EXPECT_TRUE(absl::IsAborted(status)) << op << ": " << status;
    EXPECT_NE(status.message().find("executor of host:0 was lost"), absl::string_view::npos);
    // The requests are answered before the loss is noted.
    EXPECT_TRUE(WaitFor([&] { return supervisor_->status().executor_restarts() == 1; }));
    EXPECT_TRUE(WaitUntilReady());
    EXPECT_EQ(RunProgram("add"), absl::OkStatus());
    const std::string failure = supervisor_->status().last_failure();
    if (op == "die") EXPECT_EQ(failure, "it was killed by signal 9 (Killed)");
    if (op == "goodbye") EXPECT_EQ(failure, "the worker made no progress for 10 s");
  }
}

TEST_F(ExecutorSupervisorTest, AHungExecutorIsKilledAndReplaced) {
  Start();
  const absl::Status status = RunProgram("hang");
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_NE(status.message().find("did not answer for 500ms"), absl::string_view::npos);
  EXPECT_TRUE(WaitUntilReady());
}

TEST_F(ExecutorSupervisorTest, WhatComesWhileItIsReplacedIsHeldAndGoesToTheNext) {
  Start();
  EXPECT_EQ(RunProgram("add"), absl::OkStatus());
  absl::Notification restoring, go_on;
  restore_ = [&](const ExecutorSupervisor::SyncCall& call) {
    restoring.Notify();
    go_on.WaitForNotification();
    EXPECT_TRUE(call(Open(), nullptr).ok());
    EXPECT_TRUE(call(Load("add"), nullptr).ok());
  };
  kill(supervisor_->status().executor_pid(), SIGKILL);
  restoring.WaitForNotification();
  EXPECT_TRUE(absl::IsUnavailable(supervisor_->CheckReady()));
  absl::Notification answered;
  absl::Status result = absl::UnknownError("");
  supervisor_->Call(RunIt(), nullptr, [&](const absl::StatusOr<v1::ExecutorResponse>& response) {
    result = response.status();
    answered.Notify();
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(answered.HasBeenNotified());
  v1::ExecutorRequest status;
  status.mutable_status();
  EXPECT_TRUE(absl::IsUnavailable(Call(std::move(status))));
  go_on.Notify();
  EXPECT_TRUE(answered.WaitForNotificationWithTimeout(kPatience));
  EXPECT_EQ(result, absl::OkStatus());
}

TEST_F(ExecutorSupervisorTest, OneThatCannotStartIsSaidWhyAndTriedAgain) {
  Start({"--refuse-start"});
  EXPECT_TRUE(WaitFor([&] { return supervisor_->status().executor_restarts() >= 2; }));
  const absl::Status status = Call(Open());
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_NE(status.message().find("the device is on fire"), absl::string_view::npos);
  EXPECT_EQ(supervisor_->status().state(), v1::EXECUTOR_STATE_REPLACING);
}

TEST_F(ExecutorSupervisorTest, OneThatEndsAtOnceIsSaidHow) {
  Start({"--exit-at-once"});
  EXPECT_TRUE(WaitFor([&] { return supervisor_->status().executor_restarts() >= 1; }));
  EXPECT_EQ(supervisor_->status().last_failure(), "it exited with code 3");
}

TEST_F(ExecutorSupervisorTest, StopEndsTheExecutorAlsoOneThatIgnoresIt) {
  for (const bool ignores : {false, true}) {
    Start(ignores ? std::vector<std::string>{"--ignore-stop"} : std::vector<std::string>{});
    ASSERT_TRUE(WaitUntilReady());
    const pid_t executor = supervisor_->status().executor_pid();
    supervisor_->Stop();
    EXPECT_NE(kill(executor, 0), 0);
    EXPECT_EQ(supervisor_->status().state(), v1::EXECUTOR_STATE_STOPPED);
    EXPECT_EQ(supervisor_->status().executor_restarts(), 0u);
    EXPECT_TRUE(absl::IsUnavailable(Call(Open())));
  }
}

TEST_F(ExecutorSupervisorTest, LargeMessagesBothWaysDoNotBlockTheCaller) {
  Start();
  ASSERT_TRUE(WaitUntilReady());
  EXPECT_EQ(Call(Open()), absl::OkStatus());
  v1::ExecutorRequest large = Load("add");
  large.mutable_load_program()->mutable_program()->mutable_tasks(0)->set_op(
      std::string(std::size_t{8} << 20, 'x'));
  std::vector<std::unique_ptr<absl::Notification>> answers;
  for (int i = 0; i < 5; ++i) {
    answers.push_back(std::make_unique<absl::Notification>());
    supervisor_->Call(large, nullptr,
                      [answer = answers.back().get()](const absl::StatusOr<v1::ExecutorResponse>&) {
                        answer->Notify();
                      });
  }
  for (auto& answer : answers) EXPECT_TRUE(answer->WaitForNotificationWithTimeout(kPatience));
  large.mutable_load_program()->mutable_program()->mutable_tasks(0)->set_op(
      std::string(std::size_t{65} << 20, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(Call(large)));
}

}  // namespace
}  // namespace gpuos::control
