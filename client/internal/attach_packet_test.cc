#include "client/internal/attach_packet.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "client/testing/status_matchers.h"

namespace gpuos::internal {
namespace {

using testing::IsOk;
using testing::StatusIs;

class AttachPacketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    here_ = UniqueFd(pair[0]);
    there_ = UniqueFd(pair[1]);
  }
  static absl::Time Soon() { return absl::Now() + absl::Seconds(5); }

  UniqueFd here_;
  UniqueFd there_;
};

TEST_F(AttachPacketTest, CarriesBytesAlone) {
  ASSERT_THAT(SendPacket(here_.get(), "hello", -1, Soon()), IsOk());
  auto packet = ReceivePacket(there_.get(), Soon());
  ASSERT_THAT(packet, IsOk());
  EXPECT_EQ(packet->bytes, "hello");
  EXPECT_FALSE(packet->descriptor.valid());
}

TEST_F(AttachPacketTest, CarriesADescriptorThatIsClosedOnExec) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_THAT(SendPacket(here_.get(), "memory", file.get(), Soon()), IsOk());
  auto packet = ReceivePacket(there_.get(), Soon());
  ASSERT_THAT(packet, IsOk());
  EXPECT_NE(packet->descriptor.get(), file.get());
  EXPECT_EQ(::fcntl(packet->descriptor.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(AttachPacketTest, GivesUpAtTheDeadline) {
  EXPECT_THAT(ReceivePacket(there_.get(), absl::Now() + absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       "gpuosd did not answer on the attach connection in time"));
}

TEST_F(AttachPacketTest, GivesUpSendingToAPeerThatDoesNotRead) {
  absl::Status status;
  for (int i = 0; i < 10000 && status.ok(); ++i) {
    status = SendPacket(here_.get(), std::string(kMaxPacketBytes, 'x'), -1,
                        absl::Now() + absl::Milliseconds(20));
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST_F(AttachPacketTest, SaysThatThePeerIsGone) {
  there_.Reset();
  const auto gone = StatusIs(absl::StatusCode::kUnavailable, "gpuosd closed the attach connection");
  EXPECT_THAT(SendPacket(here_.get(), "hello", -1, Soon()), gone);
  EXPECT_THAT(ReceivePacket(here_.get(), Soon()), gone);
}

TEST_F(AttachPacketTest, RefusesAPacketThatIsTooLong) {
  ASSERT_THAT(SendPacket(here_.get(), std::string(kMaxPacketBytes + 1, 'x'), -1, Soon()), IsOk());
  EXPECT_THAT(
      ReceivePacket(there_.get(), Soon()),
      StatusIs(absl::StatusCode::kInternal, "gpuosd sent a packet that is no attach message"));
}

TEST_F(AttachPacketTest, RefusesSeveralDescriptorsAndKeepsNone) {
  char byte = 'x';
  iovec piece = {&byte, 1};
  const std::array<int, 2> descriptors = {here_.get(), there_.get()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(descriptors))] = {};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(descriptors));
  std::memcpy(CMSG_DATA(part), descriptors.data(), sizeof(descriptors));
  const int next = ::dup(here_.get());
  ::close(next);
  ASSERT_EQ(::sendmsg(here_.get(), &header, 0), 1);
  EXPECT_TRUE(absl::IsInternal(ReceivePacket(there_.get(), Soon()).status()));
  const UniqueFd after(::dup(here_.get()));
  EXPECT_EQ(after.get(), next);
}

TEST_F(AttachPacketTest, SaysThatADescriptorIsNoOpenFile) {
  EXPECT_THAT(SendPacket(here_.get(), "memory", 9999, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "descriptor 9999 is not an open file: pass one of memfd_create"));
}

}  // namespace
}  // namespace gpuos::internal
