#include "daemon/link/frame_reader.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/link/link_test_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::link {
namespace {

using ::testing::HasSubstr;

class FrameReaderTest : public ::testing::Test {
 protected:
  FrameReaderTest() : ends_(StreamPair()), reader_(ends_.first.get()) {}

  int peer() const { return ends_.second.get(); }
  void ClosePeer() { ends_.second.reset(); }
  absl::StatusOr<std::optional<Received>> TryRead() { return reader_.TryRead(); }

  void ExpectNothing() {
    const auto read = TryRead();
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_FALSE(read->has_value());
  }

  // Both now and whenever it is asked again.
  void ExpectBroken(absl::StatusCode code, const std::string& sentence) {
    for (int i = 0; i < 2; ++i) {
      const auto read = TryRead();
      ASSERT_EQ(read.status().code(), code) << read.status();
      EXPECT_THAT(std::string(read.status().message()), HasSubstr(sentence));
    }
  }

  // Sends `bytes` with `count` descriptors.
  void SendWithDescriptors(std::string_view bytes, std::size_t count) {
    const UniqueFd null = OpenNull();
    const std::vector<int> fds(count, null.get());
    std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
    iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* cmsg = CMSG_FIRSTHDR(&header);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(cmsg), fds.data(), count * sizeof(int));
    ASSERT_EQ(::sendmsg(peer(), &header, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  std::pair<UniqueFd, UniqueFd> ends_;
  FrameReader reader_;
};

Received MakeReceived(const std::string& bytes) {
  Received received;
  received.bytes = bytes;
  return received;
}

// Length 3, "abc".
constexpr std::string_view kFrame("\x03\0\0\0abc", 7);

TEST_F(FrameReaderTest, ReadsFramesOneByOne) {
  ExpectNothing();
  WriteRaw(peer(), std::string(kFrame) + std::string("\0\0\0\0", 4) + std::string(kFrame));
  for (const char* want : {"abc", "", "abc"}) {
    const auto read = TryRead();
    ASSERT_TRUE(read.ok() && read->has_value());
    EXPECT_EQ((*read)->bytes, want);
    EXPECT_FALSE((*read)->fd.valid());
    EXPECT_FALSE((*read)->descriptor_lost);
  }
  ExpectNothing();
}

TEST_F(FrameReaderTest, KeepsPartsUntilTheFrameIsComplete) {
  for (std::size_t i = 0; i + 1 < kFrame.size(); ++i) {
    WriteRaw(peer(), kFrame.substr(i, 1));
    ExpectNothing();
  }
  WriteRaw(peer(), kFrame.substr(kFrame.size() - 1));
  const auto read = TryRead();
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ((*read)->bytes, "abc");
}

TEST_F(FrameReaderTest, DescriptorComesWithItsOwnMessage) {
  WriteRaw(peer(), kFrame);
  SendWithDescriptors(kFrame, 1);
  WriteRaw(peer(), kFrame);
  for (const bool carries : {false, true, false}) {
    const auto read = TryRead();
    ASSERT_TRUE(read.ok() && read->has_value());
    EXPECT_EQ((*read)->fd.valid(), carries);
    if (carries) {
      EXPECT_TRUE(ClosesOnExec((*read)->fd.get()));
    }
  }
}

TEST_F(FrameReaderTest, DescriptorSurvivesWhenTheMessageComesInParts) {
  SendWithDescriptors(kFrame.substr(0, 2), 1);
  ExpectNothing();
  WriteRaw(peer(), kFrame.substr(2, 3));
  ExpectNothing();
  WriteRaw(peer(), kFrame.substr(5));
  const auto read = TryRead();
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_TRUE((*read)->fd.valid());
}

TEST_F(FrameReaderTest, ClosesDescriptorsThatBreakTheRules) {
  const std::size_t before = OpenDescriptors();
  SendWithDescriptors(kFrame, 2);
  ExpectBroken(absl::StatusCode::kDataLoss, "several descriptors");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(FrameReaderTest, SeesEvenMoreDescriptorsThanItHasRoomFor) {
  const std::size_t before = OpenDescriptors();
  SendWithDescriptors(kFrame, 100);
  ExpectBroken(absl::StatusCode::kDataLoss, "several descriptors");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(FrameReaderTest, ClosesDescriptorInTheMiddleOfAMessage) {
  const std::size_t before = OpenDescriptors();
  WriteRaw(peer(), kFrame.substr(0, 5));
  ExpectNothing();
  SendWithDescriptors(kFrame.substr(5), 1);
  ExpectBroken(absl::StatusCode::kDataLoss, "in the middle of a message");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(FrameReaderTest, SaysWhenAtTheLimitADescriptorWasLost) {
  SendWithDescriptors(kFrame, 1);
  WriteRaw(peer(), kFrame);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit none = old;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto read = TryRead();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ((*read)->bytes, "abc");
  EXPECT_FALSE((*read)->fd.valid());
  EXPECT_TRUE((*read)->descriptor_lost);
  const auto next = TryRead();
  ASSERT_TRUE(next.ok() && next->has_value());
  EXPECT_FALSE((*next)->descriptor_lost);
}

TEST_F(FrameReaderTest, RefusesLengthsBeyondTheLimit) {
  WriteRaw(peer(), std::string_view("\x01\0\0\x04", 4));
  ExpectBroken(absl::StatusCode::kDataLoss, "announces a message of 67108865 bytes");
}

TEST_F(FrameReaderTest, RefusesGarbage) {
  WriteRaw(peer(), "GET / HTTP/1.1\r\n");
  ExpectBroken(absl::StatusCode::kDataLoss, "announces a message of 542393671 bytes");
}

TEST_F(FrameReaderTest, ReceivesWhatWasSentBeforeThePeerClosed) {
  WriteRaw(peer(), kFrame);
  ClosePeer();
  const auto read = TryRead();
  ASSERT_TRUE(read.ok() && read->has_value());
  ExpectBroken(absl::StatusCode::kUnavailable, "the peer has closed the link");
}

TEST_F(FrameReaderTest, PeerThatClosesInTheMiddleOfAMessageIsGone) {
  const std::size_t before = OpenDescriptors();
  SendWithDescriptors(kFrame.substr(0, 6), 1);
  ClosePeer();
  ExpectBroken(absl::StatusCode::kUnavailable, "the peer has closed the link");
  EXPECT_EQ(OpenDescriptors(), before - 1);
}

TEST_F(FrameReaderTest, ParseRefusesBytesThatAreNoSuchMessage) {
  v1::AttachAck message;
  EXPECT_EQ(Parse(MakeReceived("\xff\xff\xff"), message).code(), absl::StatusCode::kDataLoss);
  const std::string good = MakeMessage(7, 3).SerializeAsString();
  ASSERT_TRUE(Parse(MakeReceived(good), message).ok());
  EXPECT_EQ(message.cookie(), 7u);
}

}  // namespace
}  // namespace gpuos::link
