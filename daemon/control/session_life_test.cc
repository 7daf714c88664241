#include "daemon/control/session_life.h"

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/control/attach_channel.h"
#include "daemon/control/fake_executor_client.h"
#include "daemon/control/limits.h"
#include "daemon/control/session.h"
#include "daemon/control/sessions.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/attach.pb.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

class SessionLifeTest : public testing::Test {
 protected:
  void Open(bool taken = true) {
    life_.Open({.uid = 1000, .pid = 7}, "host:0", "me", &executor_,
               [this, taken](absl::StatusOr<std::shared_ptr<Session>> session) {
                 opened_ = std::move(session);
                 return taken;
               });
  }
  std::shared_ptr<Session> OpenNow() {
    Open();
    executor_.Answer();
    return *opened_;
  }
  absl::Status Attach(const Session& session, std::string token, uid_t uid = 1000) {
    v1::AttachHello hello;
    hello.set_session(session.id());
    hello.set_token(std::move(token));
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    peer_ = link::UniqueFd(ends[1]);
    return life_.Attach(hello, {.uid = uid, .pid = 7},
                        std::make_shared<AttachChannel>(link::UniqueFd(ends[0])));
  }

  Sessions sessions_;
  FakeExecutorClient executor_;
  std::vector<std::pair<absl::Duration, std::function<void()>>> timers_;
  SessionLife life_{&sessions_, [this](absl::Duration delay, std::function<void()> work) {
                      timers_.emplace_back(delay, std::move(work));
                    }};
  absl::StatusOr<std::shared_ptr<Session>> opened_ = absl::UnknownError("not answered");
  link::UniqueFd peer_;
};

TEST_F(SessionLifeTest, ASessionIsFoundOnceTheExecutorHasOpenedIt) {
  Open();
  ASSERT_EQ(executor_.asked().size(), 1u);
  EXPECT_FALSE(opened_.ok());
  const std::shared_ptr<Session> opening = sessions_.all().front();
  EXPECT_TRUE(
      absl::IsNotFound(sessions_.Find(opening->id(), opening->identity().token, 1000).status()));
  executor_.Answer();
  ASSERT_TRUE(opened_.ok());
  const Session& session = **opened_;
  EXPECT_EQ(session.identity().token.size(), 16u);
  EXPECT_TRUE(sessions_.Find(session.id(), session.identity().token, 1000).ok());
  EXPECT_TRUE(
      absl::IsUnauthenticated(sessions_.Find(session.id(), std::string(16, 'x'), 1000).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(
      sessions_.Find(session.id(), session.identity().token, 1001).status()));
}

TEST_F(SessionLifeTest, AnExecutorThatIsLostMeanwhileIsUnavailableAndLeavesNoSession) {
  Open();
  executor_.Answer(absl::AbortedError("lost"));
  EXPECT_TRUE(absl::IsUnavailable(opened_.status()));
  EXPECT_EQ(sessions_.count(), 0u);
}

TEST_F(SessionLifeTest, ASessionWhoseCallerHasGoneIsEnded) {
  Open(/*taken=*/false);
  executor_.Answer();
  ASSERT_EQ(executor_.asked().size(), 1u);
  EXPECT_TRUE(executor_.Answer().has_close_session());
  EXPECT_EQ(sessions_.count(), 0u);
}

TEST_F(SessionLifeTest, AttachingNeedsTheTokenAndTheSameUserAndWorksOnce) {
  const std::shared_ptr<Session> session = OpenNow();
  const std::string token = session->identity().token;
  EXPECT_TRUE(absl::IsUnauthenticated(Attach(*session, "")));
  EXPECT_TRUE(absl::IsPermissionDenied(Attach(*session, token, 1001)));
  EXPECT_EQ(Attach(*session, token), absl::OkStatus());
  EXPECT_TRUE(session->attached());
  EXPECT_TRUE(absl::IsFailedPrecondition(Attach(*session, token)));
}

TEST_F(SessionLifeTest, ASessionThatIsNotAttachedInTimeEnds) {
  OpenNow();
  ASSERT_EQ(timers_.size(), 1u);
  EXPECT_EQ(timers_[0].first, kAttachDeadline);
  timers_[0].second();
  EXPECT_TRUE(executor_.Answer().has_close_session());
  EXPECT_EQ(sessions_.count(), 0u);
}

TEST_F(SessionLifeTest, AnAttachedSessionOutlivesTheDeadlineAndEndsWithItsConnection) {
  const std::shared_ptr<Session> session = OpenNow();
  ASSERT_EQ(Attach(*session, session->identity().token), absl::OkStatus());
  timers_[0].second();
  EXPECT_EQ(sessions_.count(), 1u);
  life_.Detached(session->id(), "its process ended");
  EXPECT_EQ(sessions_.count(), 0u);
  EXPECT_TRUE(executor_.Answer().has_close_session());
  // The daemon's end is closed: end of file.
  char byte;
  EXPECT_EQ(recv(peer_.get(), &byte, 1, MSG_DONTWAIT), 0);
}

TEST_F(SessionLifeTest, EndAnswersOnlyWhenTheExecutorHasLetGo) {
  const std::shared_ptr<Session> session = OpenNow();
  ASSERT_EQ(Attach(*session, session->identity().token), absl::OkStatus());
  ASSERT_TRUE(session->batches().Begin().ok());
  absl::Status waited;
  ASSERT_TRUE(session->batches().Wait(1, [&](absl::Status s) { waited = std::move(s); }).ok());
  bool ended = false, ended_again = false;
  life_.End(session, "closed", [&] { ended = true; });
  life_.End(session, "again", [&] { ended_again = true; });
  EXPECT_FALSE(ended);
  EXPECT_TRUE(ended_again);
  EXPECT_TRUE(waited.ok());
  executor_.Answer(absl::AbortedError("the executor is lost"));
  EXPECT_TRUE(ended);
  EXPECT_TRUE(absl::IsAborted(waited));
}

TEST_F(SessionLifeTest, ClientNamesAreShortAndPrintable) {
  const auto add = [&](const std::string& name) {
    return sessions_.Add({}, "host:0", name, &executor_).status();
  };
  EXPECT_EQ(add(std::string(128, 'x')), absl::OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(add(std::string(129, 'x'))));
  EXPECT_TRUE(absl::IsInvalidArgument(add("a\x1b[31m")));
  EXPECT_EQ(add("größe"), absl::OkStatus());
}

TEST_F(SessionLifeTest, SessionsAreBounded) {
  for (std::size_t i = 0; i < kMaxSessions; ++i) {
    ASSERT_TRUE(sessions_.Add({}, "host:0", "x", &executor_).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(sessions_.Add({}, "host:0", "x", &executor_).status()));
}

}  // namespace
}  // namespace gpuos::control
