#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "client/internal/unique_fd.h"
#include "client/testing/fake_daemon.h"
#include "client/testing/session_fixture.h"
#include "client/testing/status_matchers.h"
#include "client/testing/temp_directory.h"
#include "gpuos/client.h"

namespace gpuos {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeDaemon;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;
using testing::TempDirectory;

using SessionConnectTest = testing::SessionFixture;

Session::Options At(const std::string& target, absl::Duration timeout = absl::Seconds(10)) {
  Session::Options options;
  options.target = target;
  options.connect_timeout = timeout;
  return options;
}

// A unix socket that listens at `path`, with nobody behind it.
internal::UniqueFd ListenAt(const std::string& path) {
  internal::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(listener.get(), 4), 0);
  return listener;
}

TEST_F(SessionConnectTest, OpensASessionOnTheDaemonsDevice) {
  EXPECT_EQ(session_->device_name(), "host:0");
  EXPECT_EQ(session_->device_uuid(), "");
  EXPECT_EQ(session_->id(), 1u);
  EXPECT_THAT(daemon_->state().ClientNames(), ElementsAre("session test"));
  EXPECT_EQ(daemon_->attach().connections(), 1);
}

TEST_F(SessionConnectTest, TakesTheTargetFromTheEnvironmentWhenNoneIsGiven) {
  ::setenv("GPUOS_TARGET", daemon_->socket_path().c_str(), 1);
  EXPECT_THAT(Session::Connect({}), IsOk());
  ::unsetenv("GPUOS_TARGET");
}

TEST_F(SessionConnectTest, NamesTheProgramWhenTheClientHasNoName) {
  auto session = Session::Connect(At(daemon_->target()));
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(daemon_->state().ClientNames(), ElementsAre("session test", "session_connect_test"));
}

TEST_F(SessionConnectTest, HandsOnTheDaemonsSentenceForAnUnknownDevice) {
  Session::Options options = ConnectOptions();
  options.device = "cuda:7";
  EXPECT_THAT(
      Session::Connect(options),
      StatusIs(absl::StatusCode::kNotFound, "device \"cuda:7\" is not there; there are: host:0"));
}

TEST_F(SessionConnectTest, HandsOnTheDaemonsSentenceWhenTheHelloIsRefused) {
  daemon_->state().FailNext("AttachHello", absl::PermissionDeniedError("another uid"));
  EXPECT_THAT(Session::Connect(ConnectOptions()),
              StatusIs(absl::StatusCode::kPermissionDenied, "another uid"));
}

TEST_F(SessionConnectTest, HandsOnThatTheExecutorIsStarting) {
  daemon_->state().FailNext("OpenSession", absl::UnavailableError("host:0 is starting"));
  EXPECT_THAT(Session::Connect(ConnectOptions()),
              StatusIs(absl::StatusCode::kUnavailable, "host:0 is starting"));
}

TEST_F(SessionConnectTest, CloseEndsTheSessionAtTheDaemon) {
  EXPECT_THAT(session_->Close(), IsOk());
  EXPECT_THAT(daemon_->state().ClientNames(), ElementsAre());
  EXPECT_THAT(session_->Close(), IsOk());
  EXPECT_EQ(daemon_->state().Calls("CloseSession"), 1);
  EXPECT_THAT(session_->CreateSegment(1),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "session 1 was closed by this process; connect again"));
}

TEST_F(SessionConnectTest, TheDestructorEndsTheSessionAtTheDaemon) {
  session_.reset();
  EXPECT_THAT(daemon_->state().ClientNames(), ElementsAre());
}

TEST(SessionConnectErrorTest, NamesAMissingSocketAndSaysWhatToDo) {
  TempDirectory directory;
  const std::string path = directory.File("none.sock");
  EXPECT_THAT(Session::Connect(At("unix://" + path)),
              StatusIs(absl::StatusCode::kUnavailable,
                       "cannot reach gpuosd at " + path +
                           ": no such file; start it (systemctl start gpuosd) or set GPUOS_TARGET "
                           "to where it listens"));
}

TEST(SessionConnectErrorTest, NamesAStaleSocketOfADaemonThatIsGone) {
  TempDirectory directory;
  const std::string path = directory.File("stale.sock");
  ListenAt(path).Reset();
  EXPECT_THAT(Session::Connect(At(path)), StatusIs(absl::StatusCode::kUnavailable,
                                                   AllOf(HasSubstr(path + ": connection refused"),
                                                         HasSubstr("systemctl start gpuosd"))));
}

TEST(SessionConnectErrorTest, SaysThatSomethingElseListensThere) {
  TempDirectory directory;
  const std::string path = directory.File("other.sock");
  internal::UniqueFd listener = ListenAt(path);
  std::thread other([&listener] {
    internal::UniqueFd peer(::accept(listener.get(), nullptr, nullptr));
    static_cast<void>(::send(peer.get(), "220 mail ready\r\n", 16, MSG_NOSIGNAL));
  });
  EXPECT_THAT(Session::Connect(At(path)),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("what listens at " + path + " does not answer as gpuosd")));
  other.join();
}

TEST(SessionConnectErrorTest, GivesUpWhenNobodyAnswersInTime) {
  TempDirectory directory;
  const std::string path = directory.File("silent.sock");
  internal::UniqueFd listener = ListenAt(path);
  const absl::Time start = absl::Now();
  EXPECT_THAT(Session::Connect(At(path, absl::Milliseconds(100))),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("gpuosd at " + path + " did not answer GetInfo in time")));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(SessionConnectErrorTest, RefusesATargetThatIsNoUnixSocket) {
  EXPECT_THAT(Session::Connect(At("localhost:50051")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"localhost:50051\"")));
}

}  // namespace
}  // namespace gpuos
