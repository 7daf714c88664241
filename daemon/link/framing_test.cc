#include "daemon/link/framing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/link/link_test_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::link {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kBig = 64 << 10;

std::uint64_t NumberOf(const Received& received) {
  v1::AttachAck message;
  EXPECT_TRUE(Parse(received, message).ok());
  return message.cookie();
}

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() {
    auto ends = MakeSocketPair();
    EXPECT_TRUE(ends.ok());
    EXPECT_TRUE(ClosesOnExec(ends->first.get()) && ClosesOnExec(ends->second.get()));
    a_ = std::make_unique<Channel>(std::move(ends->first));
    b_ = std::make_unique<Channel>(std::move(ends->second));
  }

  static void SendAll(Channel& channel, int count, std::size_t size) {
    for (int i = 0; i < count; ++i) {
      const absl::Status status = channel.Send(MakeMessage(i, size));
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  static void ReceiveAll(Channel& channel, int count) {
    for (int i = 0; i < count; ++i) {
      const auto received = channel.Receive(absl::Seconds(20));
      ASSERT_TRUE(received.ok()) << received.status();
      ASSERT_EQ(NumberOf(*received), static_cast<std::uint64_t>(i));
    }
  }

  std::unique_ptr<Channel> a_;
  std::unique_ptr<Channel> b_;
};

TEST_F(ChannelTest, CarriesMessagesInOrderBothWays) {
  SendAll(*a_, 100, 10);
  SendAll(*b_, 100, 10);
  ReceiveAll(*b_, 100);
  ReceiveAll(*a_, 100);
}

TEST_F(ChannelTest, CarriesTheLargestMessageAndRefusesLargerOnes) {
  v1::AttachAck message = MakeMessage(0, kMaxMessageBytes);
  absl::Status status = a_->Send(message);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("at most 67108864 may be sent"));
  EXPECT_EQ(a_->Post(message).code(), absl::StatusCode::kInvalidArgument);

  message.mutable_message()->resize(kMaxMessageBytes - 5);
  ASSERT_EQ(message.ByteSizeLong(), kMaxMessageBytes);
  std::thread sender([&] { status = a_->Send(message); });
  const auto received = b_->Receive(absl::Seconds(20));
  sender.join();
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(received->bytes.size(), kMaxMessageBytes);
}

TEST_F(ChannelTest, TwoPeersThatSendAtOnceDoNotWaitForEachOther) {
  std::thread other([&] {
    SendAll(*b_, 1000, kBig);
    ReceiveAll(*b_, 1000);
  });
  SendAll(*a_, 1000, kBig);
  ReceiveAll(*a_, 1000);
  other.join();
}

TEST_F(ChannelTest, ManyThreadsSendWhileOneReceives) {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  std::vector<std::thread> senders;
  for (int i = 0; i < kThreads; ++i) {
    senders.emplace_back([&, i] {
      for (int k = 0; k < kEach; ++k) {
        EXPECT_TRUE(a_->Send(MakeMessage(static_cast<std::uint64_t>(i), 5000)).ok());
      }
    });
  }
  std::vector<int> got(kThreads, 0);
  for (int i = 0; i < kThreads * kEach; ++i) {
    const auto received = b_->Receive(absl::Seconds(20));
    ASSERT_TRUE(received.ok()) << received.status();
    ++got.at(NumberOf(*received));
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_THAT(got, ::testing::Each(kEach));
}

TEST_F(ChannelTest, SenderGoesOnThoughAnotherThreadOfItsEndStoppedReceiving) {
  std::atomic<bool> sent{false};
  std::thread receiver([&] {
    // Holds the receiving side until the first message comes, and takes no further one.
    EXPECT_TRUE(a_->Receive(absl::Seconds(20)).ok());
  });
  std::thread sender([&] {
    SendAll(*a_, 200, kBig);
    sent = true;
  });
  SendAll(*b_, 200, kBig);
  ReceiveAll(*b_, 200);
  sender.join();
  receiver.join();
  EXPECT_TRUE(sent);
}

TEST_F(ChannelTest, LoopThatNeverBlocksTalksToOneThatDoes) {
  std::thread blocking([&] {
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(b_->Send(MakeMessage(i, kBig)).ok());
    }
    ReceiveAll(*b_, 300);
  });
  int got = 0;
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while ((got < 300 || a_->wants_write()) && absl::Now() < deadline) {
    auto next = a_->TryReceive();
    ASSERT_TRUE(next.ok()) << next.status();
    if (next->has_value()) {
      ++got;
      ASSERT_TRUE(a_->Post(MakeMessage(NumberOf(**next), kBig)).ok());
    }
    ASSERT_TRUE(a_->Flush().ok());
  }
  blocking.join();
  EXPECT_EQ(got, 300);
}

TEST_F(ChannelTest, PostQueuesWhatTheSocketDoesNotTake) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a_->Post(MakeMessage(i, kBig)).ok());
  EXPECT_TRUE(a_->wants_write());
  int got = 0;
  while (got < 100) {
    ASSERT_TRUE(a_->Flush().ok());
    auto next = b_->TryReceive();
    ASSERT_TRUE(next.ok());
    if (next->has_value()) {
      ASSERT_EQ(NumberOf(**next), static_cast<std::uint64_t>(got++));
    }
  }
  EXPECT_FALSE(a_->wants_write());
}

TEST_F(ChannelTest, PostRefusesWhenThePeerDoesNotRead) {
  const v1::AttachAck message = MakeMessage(0, 32 << 20);
  absl::Status status;
  int posted = 0;
  while ((status = a_->Post(message)).ok() && posted < 100) ++posted;
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(posted, 9);
  // The link still works.
  EXPECT_TRUE(b_->TryReceive().ok());
}

TEST_F(ChannelTest, ReceiveEndsAtItsTimeout) {
  const absl::Time start = absl::Now();
  EXPECT_EQ(a_->Receive(absl::Milliseconds(30)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(30));
  EXPECT_EQ(a_->Receive(absl::ZeroDuration()).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ChannelTest, PeerThatClosedIsUnavailable) {
  SendAll(*b_, 3, 10);
  b_.reset();
  ReceiveAll(*a_, 3);
  EXPECT_EQ(a_->Receive().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(a_->Send(MakeMessage(0, 10)).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(a_->Post(MakeMessage(0, 10)).code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(a_->wants_write());
}

TEST_F(ChannelTest, PeerThatClosesEndsABlockedSend) {
  std::thread closer([&] {
    absl::SleepFor(absl::Milliseconds(20));
    b_.reset();
  });
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = a_->Send(MakeMessage(i, kBig));
  closer.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(ChannelTest, ShutdownEndsABlockedReceive) {
  std::thread stopper([&] {
    absl::SleepFor(absl::Milliseconds(20));
    a_->Shutdown();
  });
  EXPECT_EQ(a_->Receive(absl::Seconds(20)).status().code(), absl::StatusCode::kUnavailable);
  stopper.join();
  EXPECT_EQ(b_->Receive(absl::Seconds(20)).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ChannelTest, DescriptorsArriveWithTheirMessagesAndNoneLeak) {
  const std::size_t before = OpenDescriptors();
  constexpr int kCount = 400;
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const UniqueFd read_end(pipe_ends[0]);
  const UniqueFd write_end(pipe_ends[1]);
  std::thread sender([&] {
    for (int i = 0; i < kCount; ++i) {
      const int fd = i % 3 == 0 ? write_end.get() : -1;
      ASSERT_TRUE(a_->Send(MakeMessage(i, 100 * (i % 50)), fd).ok());
    }
  });
  for (int i = 0; i < kCount; ++i) {
    const auto received = b_->Receive(absl::Seconds(20));
    ASSERT_TRUE(received.ok()) << received.status();
    ASSERT_EQ(received->fd.valid(), i % 3 == 0) << i;
    if (!received->fd.valid()) continue;
    EXPECT_TRUE(ClosesOnExec(received->fd.get()));
    EXPECT_EQ(::write(received->fd.get(), "y", 1), 1);
    char byte = 0;
    EXPECT_EQ(::read(read_end.get(), &byte, 1), 1);
  }
  sender.join();
  EXPECT_EQ(OpenDescriptors(), before + 2);
}

TEST_F(ChannelTest, DescriptorsThatNobodyReceivedAreClosedWithTheLink) {
  const std::size_t before = OpenDescriptors();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(a_->Post(MakeMessage(i, kBig), OpenNull()).ok());
    ASSERT_TRUE(b_->Post(MakeMessage(i, kBig), OpenNull()).ok());
  }
  EXPECT_GT(OpenDescriptors(), before);
  ASSERT_TRUE(a_->TryReceive().ok());
  a_.reset();
  b_.reset();
  EXPECT_EQ(OpenDescriptors(), before - 2);
}

TEST_F(ChannelTest, SendLeavesTheCallersDescriptorOpen) {
  const UniqueFd null = OpenNull();
  ASSERT_TRUE(a_->Send(MakeMessage(1, 1), null.get()).ok());
  EXPECT_TRUE(ClosesOnExec(null.get()));
  EXPECT_EQ(a_->Send(MakeMessage(1, 1), 100000).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ChannelTest, SignalsDoNotDisturbIt) {
  struct sigaction action = {};
  struct sigaction old = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &old), 0);
  std::atomic<bool> done{false};
  std::thread receiver([&] { ReceiveAll(*b_, 300); });
  std::thread pest([&, target = receiver.native_handle(), self = ::pthread_self()] {
    while (!done) {
      ::pthread_kill(target, SIGUSR1);
      ::pthread_kill(self, SIGUSR1);
      absl::SleepFor(absl::Microseconds(50));
    }
  });
  SendAll(*a_, 300, kBig);
  // The receiver's thread must not be joined while it is being signalled.
  while (a_->wants_write()) absl::SleepFor(absl::Milliseconds(1));
  done = true;
  pest.join();
  receiver.join();
  ASSERT_EQ(::sigaction(SIGUSR1, &old, nullptr), 0);
}

TEST_F(ChannelTest, RandomBytesNeverBreakMoreThanTheLink) {
  std::mt19937_64 random(20261201);
  for (int round = 0; round < 200; ++round) {
    auto ends = StreamPair();
    Channel channel(std::move(ends.first));
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Half of the time the length is plausible, so that bodies are garbage too.
    if (bytes.size() > 4 && round % 2 == 0) bytes[1] = bytes[2] = bytes[3] = 0;
    WriteRaw(ends.second.get(), bytes);
    ends.second.reset();
    absl::StatusOr<Received> received = channel.Receive(absl::Seconds(20));
    while (received.ok()) {
      v1::AttachAck message;
      Parse(*received, message).IgnoreError();
      received = channel.Receive(absl::Seconds(20));
    }
    EXPECT_TRUE(absl::IsUnavailable(received.status()) || absl::IsDataLoss(received.status()))
        << received.status();
  }
}

}  // namespace
}  // namespace gpuos::link
