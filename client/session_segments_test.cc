#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "client/internal/unique_fd.h"
#include "client/testing/session_fixture.h"
#include "client/testing/status_matchers.h"
#include "gpuos/client.h"

namespace gpuos {
namespace {

using internal::UniqueFd;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

using SessionSegmentsTest = testing::SessionFixture;

UniqueFd MemoryFile(std::uint64_t size, int seals) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(size)), 0);
  EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

TEST_F(SessionSegmentsTest, MapsWhatTheDaemonMadeZeroedAndWritable) {
  auto made = session_->CreateSegment(5000);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->segment.size, 8192u);
  EXPECT_EQ(made->mapping.size(), 8192u);
  EXPECT_EQ(made->mapping.as<char>()[8191], 0);
  made->mapping.as<char>()[8191] = 7;
  EXPECT_EQ(made->mapping.as<char>()[8191], 7);
}

TEST_F(SessionSegmentsTest, ThreadsThatCreateAtOnceGetTheirOwnMemory) {
  std::vector<MappedSegment> made(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < made.size(); ++i) {
    threads.emplace_back([this, i, &made] {
      auto segment = session_->CreateSegment(4096 * (i + 1));
      if (segment.ok()) made[i] = *std::move(segment);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i].mapping.size(), 4096 * (i + 1));
}

TEST_F(SessionSegmentsTest, MemoryOutlivesTheSession) {
  auto made = session_->CreateSegment(4096);
  ASSERT_THAT(made, IsOk());
  session_.reset();
  daemon_.reset();
  made->mapping.as<int>()[0] = 42;
  EXPECT_EQ(made->mapping.as<int>()[0], 42);
}

TEST_F(SessionSegmentsTest, RefusesAMemoryFileShorterThanItsSegmentAndReleasesIt) {
  daemon_->state().FailNext("SendMemory", absl::DataLossError("short"));
  EXPECT_THAT(session_->CreateSegment(8192),
              StatusIs(absl::StatusCode::kInternal,
                       "gpuosd sent a memory file of 4096 bytes for a segment of 8192 bytes"));
  EXPECT_EQ(daemon_->state().SegmentCount(), 0);
}

TEST_F(SessionSegmentsTest, HandsOnWhyASegmentCannotBeMade) {
  daemon_->state().FailNext("CreateSegment", absl::ResourceExhaustedError("size is too much"));
  EXPECT_THAT(session_->CreateSegment(1),
              StatusIs(absl::StatusCode::kResourceExhausted, "size is too much"));
}

TEST_F(SessionSegmentsTest, RegistersASealedMemoryFileAndLeavesItsDescriptorOpen) {
  const UniqueFd file = MemoryFile(12288, F_SEAL_SHRINK);
  auto segment = session_->RegisterMemoryFile(file.get());
  ASSERT_THAT(segment, IsOk());
  EXPECT_EQ(segment->size, 12288u);
  EXPECT_GE(::fcntl(file.get(), F_GETFD), 0);
}

TEST_F(SessionSegmentsTest, HandsOnThatAMemoryFileIsNotSealed) {
  const UniqueFd file = MemoryFile(4096, 0);
  EXPECT_THAT(session_->RegisterMemoryFile(file.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("F_SEAL_SHRINK")));
}

TEST_F(SessionSegmentsTest, RefusesWhatIsNoDescriptor) {
  EXPECT_THAT(session_->RegisterMemoryFile(-1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("descriptor -1")));
  EXPECT_THAT(session_->RegisterMemoryFile(9999),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("descriptor 9999")));
  EXPECT_THAT(session_->CreateSegment(1), IsOk());
}

TEST_F(SessionSegmentsTest, HandsOnThatTheDaemonRefusesADescriptor) {
  const UniqueFd file = MemoryFile(4096, F_SEAL_SHRINK);
  daemon_->state().FailNext("AttachMemory", absl::ResourceExhaustedError("too many"));
  EXPECT_THAT(session_->RegisterMemoryFile(file.get()),
              StatusIs(absl::StatusCode::kResourceExhausted, "too many"));
  EXPECT_EQ(daemon_->state().Calls("RegisterSegment"), 0);
}

TEST_F(SessionSegmentsTest, RegistersACudaAllocationByItsHandle) {
  auto segment = session_->RegisterCudaIpc(std::string(64, 'h'), "GPU-1");
  ASSERT_THAT(segment, IsOk());
  EXPECT_EQ(segment->size, 64u * 4096);
}

TEST_F(SessionSegmentsTest, ReleasesOnce) {
  auto made = session_->CreateSegment(1);
  ASSERT_THAT(made, IsOk());
  EXPECT_THAT(session_->Release(made->segment.id), IsOk());
  EXPECT_EQ(daemon_->state().SegmentCount(), 0);
  EXPECT_THAT(session_->Release(made->segment.id),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("segment")));
}

TEST_F(SessionSegmentsTest, AHostPointerIsNoCudaMemory) {
  int here = 0;
  const auto result = session_->RegisterCudaPointer(reinterpret_cast<std::uint64_t>(&here));
  // Where there is no driver, that is what is missing.
  EXPECT_THAT(result, ::testing::AnyOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("pass the address of a CUDA tensor")),
                                       StatusIs(absl::StatusCode::kFailedPrecondition,
                                                HasSubstr("install NVIDIA's driver")),
                                       StatusIs(absl::StatusCode::kFailedPrecondition,
                                                HasSubstr("cuInit of the CUDA driver failed"))));
}

}  // namespace
}  // namespace gpuos
