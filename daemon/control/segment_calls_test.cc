#include "daemon/control/segment_calls.h"

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/control/attach_channel.h"
#include "daemon/control/attach_packet.h"
#include "daemon/control/fake_executor_client.h"
#include "daemon/control/id_source.h"
#include "daemon/control/memory_file.h"
#include "daemon/control/session.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/control.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

class SegmentCallsTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    client_ = link::UniqueFd(ends[1]);
    session_->SetOpened();
    ASSERT_TRUE(session_->Attach(std::make_shared<AttachChannel>(link::UniqueFd(ends[0]))).ok());
  }

  void Create(bool taken = true) {
    CreateSegment(session_, &ids_, 5000, [this, taken](auto response) {
      created_ = std::move(response);
      return taken;
    });
  }
  void AnswerImported() {
    v1::ExecutorResponse response;
    response.mutable_segment_imported()->set_size(8192);
    executor_.Answer(std::move(response));
  }

  FakeExecutorClient executor_;
  IdSource ids_;
  std::shared_ptr<Session> session_ =
      std::make_shared<Session>(Session::Identity{.id = 5}, &executor_);
  link::UniqueFd client_;
  absl::StatusOr<v1::CreateSegmentResponse> created_ = absl::UnknownError("not answered");
};

TEST_F(SegmentCallsTest, TheMemoryFileComesBeforeTheAnswer) {
  Create();
  ASSERT_EQ(executor_.asked().size(), 1u);
  const FakeExecutorClient::Asked& asked = executor_.asked().front();
  EXPECT_TRUE(asked.request.import_segment().memory_file());
  EXPECT_EQ(CheckMemoryFile(asked.descriptor->get()), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(session_->segments().CheckLive(1)));
  AnswerImported();
  ASSERT_TRUE(created_.ok());
  EXPECT_EQ(created_->size(), 8192u);
  EXPECT_EQ(session_->segments().CheckLive(created_->segment()), absl::OkStatus());
  absl::StatusOr<AttachPacket> packet = ReceiveAttachPacket(client_.get());
  ASSERT_TRUE(packet.ok());
  EXPECT_TRUE(packet->descriptor.valid());
}

TEST_F(SegmentCallsTest, ASegmentThatTheExecutorRefusesLeavesNothing) {
  Create();
  executor_.Answer(absl::UnimplementedError("not on this device"));
  EXPECT_TRUE(absl::IsUnimplemented(created_.status()));
  EXPECT_TRUE(session_->segments().restorable().empty());
  EXPECT_TRUE(executor_.asked().empty());
}

TEST_F(SegmentCallsTest, ASegmentWhoseCallerHasGoneIsReleasedAgain) {
  Create(/*taken=*/false);
  AnswerImported();
  ASSERT_EQ(executor_.asked().size(), 1u);
  EXPECT_TRUE(executor_.Answer().has_drop_segment());
  EXPECT_EQ(session_->segments().count(), 0u);
}

TEST_F(SegmentCallsTest, AClientThatDoesNotReadItsAttachConnectionGetsAnError) {
  session_->End();
  session_->Dispose(absl::AbortedError("ended"));
  Create();
  AnswerImported();
  EXPECT_TRUE(absl::IsFailedPrecondition(created_.status()));
  EXPECT_TRUE(executor_.Answer().has_drop_segment());
}

TEST_F(SegmentCallsTest, AReleaseIsDoneAlsoWhenTheExecutorIsLost) {
  Create();
  AnswerImported();
  const std::uint64_t id = created_->segment();
  absl::Status released = absl::UnknownError("not answered");
  ReleaseSegment(session_, id, [&](const auto& response) {
    released = response.status();
    return true;
  });
  EXPECT_TRUE(absl::IsNotFound(session_->segments().CheckLive(id)));
  EXPECT_TRUE(absl::IsUnknown(released));
  executor_.Answer(absl::AbortedError("lost"));
  EXPECT_EQ(released, absl::OkStatus());
  EXPECT_TRUE(session_->segments().restorable().empty());
}

TEST_F(SegmentCallsTest, ARequestWithoutASourceOrWithAShortHandleIsInvalid) {
  v1::RegisterSegmentRequest request;
  absl::Status status;
  const auto keep = [&](const auto& response) {
    status = response.status();
    return true;
  };
  RegisterSegment(session_, &ids_, request, keep);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  request.mutable_cuda_ipc()->set_handle("123");
  RegisterSegment(session_, &ids_, request, keep);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("cuda_ipc.handle has 3 bytes"), absl::string_view::npos);
  request.set_descriptor_cookie(9);
  RegisterSegment(session_, &ids_, request, keep);
  EXPECT_TRUE(absl::IsNotFound(status));
}

}  // namespace
}  // namespace gpuos::control
