// A client that is killed after each message leaves nothing in gpuosd or its executor.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/control/integration/gpuosd_process.h"
#include "daemon/control/integration/raw_client.h"
#include "gpuos/v1/admin.pb.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

constexpr int kSteps = 10;

std::uint32_t CountEntries(const std::string& directory) {
  return static_cast<std::uint32_t>(std::distance(std::filesystem::directory_iterator(directory),
                                                  std::filesystem::directory_iterator()));
}

// What both processes hold.
struct Holdings {
  std::uint32_t sessions = 0;
  std::uint32_t segments = 0;
  std::uint32_t programs = 0;
  std::uint32_t batches = 0;
  std::uint32_t gpuosd_descriptors = 0;
  std::uint32_t gpuosd_threads = 0;
  std::uint32_t executor_descriptors = 0;
  std::uint32_t executor_threads = 0;

  bool operator==(const Holdings&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Holdings& h) {
  return out << absl::StrCat("sessions ", h.sessions, ", segments ", h.segments, ", programs ",
                             h.programs, ", batches ", h.batches, ", gpuosd's descriptors ",
                             h.gpuosd_descriptors, " and threads ", h.gpuosd_threads,
                             ", executor's descriptors ", h.executor_descriptors, " and threads ",
                             h.executor_threads);
}

Holdings Measure(RawClient& client) {
  const v1::GetStatusResponse status = client.GetStatus();
  const v1::DeviceStatus& device = status.devices(0);
  const std::string executor = absl::StrCat("/proc/", device.executor_pid());
  return {.sessions = status.sessions(),
          .segments = device.counters().segments(),
          .programs = device.counters().programs(),
          .batches = device.counters().batches_in_flight() + device.counters().batches_queued(),
          .gpuosd_descriptors = status.open_descriptors(),
          .gpuosd_threads = status.threads(),
          .executor_descriptors = CountEntries(executor + "/fd"),
          .executor_threads = CountEntries(executor + "/task")};
}

// Runs a helper of this folder to its end; returns its wait status.
int RunHelper(const std::string& name, std::string socket, std::string argument) {
  std::string program = Runfile("daemon/control/integration/" + name);
  char* arguments[] = {program.data(), socket.data(), argument.data(), nullptr};
  pid_t pid = -1;
  if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ) != 0) return -1;
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

// It must have died by its own SIGKILL: otherwise one of its steps failed.
void RunDoomedClient(const std::string& socket, int steps) {
  const int status = RunHelper("doomed_client", socket, std::to_string(steps));
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "wait status " << status;
}

class GpuosdClientDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(observer_.OpenAndAttach().ok());
    // What is made once and stays: threads of gRPC, a worker that has run.
    for (int i = 0; i < 3; ++i) RunDoomedClient(socket_, kSteps);
    ASSERT_TRUE(Eventually([&] {
      absl::SleepFor(absl::Milliseconds(50));
      const Holdings earlier = std::exchange(before_, Measure(observer_));
      return before_ == earlier && before_.sessions == 1 && before_.batches == 0;
    }));
  }

  void ExpectNothingLeft(absl::Duration patience) {
    Holdings after;
    EXPECT_TRUE(Eventually(
        [&] {
          after = Measure(observer_);
          return after == before_;
        },
        patience))
        << "before: " << before_ << "\nafter: " << after;
  }

  TemporaryDirectory directory_;
  const std::string socket_ = directory_.File("s");
  GpuosdProcess gpuosd_{{.socket = socket_}};
  RawClient observer_{socket_};
  Holdings before_;
};

TEST_F(GpuosdClientDeathTest, NothingIsLeftOfAClientKilledAfterAnyMessage) {
  for (int steps = 2; steps <= kSteps; ++steps) {
    SCOPED_TRACE(absl::StrCat("after ", steps, " steps"));
    RunDoomedClient(socket_, steps);
    ExpectNothingLeft(absl::Seconds(5));
  }
}

TEST_F(GpuosdClientDeathTest, ASessionWhoseClientDiesBeforeItAttachesEndsAfterItsDeadline) {
  RunDoomedClient(socket_, 1);
  EXPECT_EQ(observer_.GetStatus().sessions(), 2u);
  ExpectNothingLeft(absl::Seconds(15));
}

TEST_F(GpuosdClientDeathTest, TheSessionEndsThoughAForkedChildHoldsItsSockets) {
  // The helper's child keeps every descriptor for 3 s; the pidfd of the helper says that it is
  // gone.
  ASSERT_EQ(RunHelper("forking_client", socket_, "3"), 0);
  EXPECT_TRUE(Eventually([&] { return observer_.GetStatus().sessions() == 1; }, absl::Seconds(2)));
}

}  // namespace
}  // namespace gpuos::control
