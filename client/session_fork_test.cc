#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "client/testing/session_fixture.h"
#include "client/testing/status_matchers.h"
#include "gpuos/client.h"

namespace gpuos {
namespace {

using testing::AddProgram;
using testing::IsOk;

using SessionForkTest = testing::SessionFixture;

// Runs `body` in a forked child; true if it returned true there within ten seconds.
bool InChild(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool SaysConnectAgain(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) &&
         std::string(status.message()).find("connect again") != std::string::npos;
}

TEST_F(SessionForkTest, EveryCallInAChildSaysToConnectAgain) {
  EXPECT_TRUE(InChild([this] {
    return SaysConnectAgain(session_->CreateSegment(1).status()) &&
           SaysConnectAgain(session_->RegisterMemoryFile(0).status()) &&
           SaysConnectAgain(session_->RegisterCudaIpc("", "").status()) &&
           SaysConnectAgain(session_->RegisterCudaPointer(1).status()) &&
           SaysConnectAgain(session_->Release(SegmentId{1})) &&
           SaysConnectAgain(session_->CreateProgram(AddProgram(1)).status()) &&
           SaysConnectAgain(session_->ReleaseProgram(ProgramId{1})) &&
           SaysConnectAgain(session_->Submit(ProgramId{1}, {}).status()) &&
           SaysConnectAgain(session_->Wait(1)) && SaysConnectAgain(session_->Close());
  }));
}

TEST_F(SessionForkTest, AChildThatDropsTheSessionLeavesItToTheParent) {
  EXPECT_TRUE(InChild([this] {
    session_.reset();
    return true;
  }));
  EXPECT_THAT(session_->CreateSegment(1), IsOk());
  EXPECT_EQ(daemon_->state().Calls("CloseSession"), 0);
}

TEST_F(SessionForkTest, ASessionEndsWithTheParentThoughAChildLives) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    char byte;
    ::close(gate[1]);
    // Lives on, with copies of the parent's sockets, until the parent is done.
    ::_exit(static_cast<int>(::read(gate[0], &byte, 1)));
  }
  EXPECT_THAT(session_->Close(), IsOk());
  EXPECT_THAT(daemon_->state().ClientNames(), ::testing::ElementsAre());
  ::close(gate[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  ::close(gate[0]);
}

TEST_F(SessionForkTest, AChildOfAConnectedProcessIsToldToBeStartedByExec) {
  EXPECT_TRUE(InChild([this] {
    return SaysConnectAgain(Session::Connect(ConnectOptions()).status()) &&
           SaysConnectAgain(Admin::Connect({daemon_->target()}).status());
  }));
  EXPECT_THAT(session_->CreateSegment(1), IsOk());
}

}  // namespace
}  // namespace gpuos
