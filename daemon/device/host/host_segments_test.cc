#include "daemon/device/host/host_segments.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kLimit = 1 << 20;

// A descriptor that is closed at the end of a test.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) { EXPECT_GE(descriptor, 0); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(descriptor_); }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

int MakeMemoryFile(std::uint64_t size, int seals) {
  const int descriptor = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(descriptor, static_cast<off_t>(size)), 0);
  if (seals != 0) EXPECT_EQ(fcntl(descriptor, F_ADD_SEALS, seals), 0);
  return descriptor;
}

class HostSegmentsTest : public testing::Test {
 protected:
  void ExpectRefused(int descriptor, absl::StatusCode code, const std::string& words) {
    const absl::Status status = segments_.ImportMemoryFile(descriptor).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }

  HostSegments segments_{kLimit};
};

TEST_F(HostSegmentsTest, BytesOfASealedMemoryFileAreSeenBothWaysAlsoAfterItsDescriptorIsClosed) {
  auto file = std::make_unique<Descriptor>(MakeMemoryFile(5000, F_SEAL_SHRINK | F_SEAL_GROW));
  const char ours = 'a';
  ASSERT_EQ(pwrite(file->get(), &ours, 1, 4999), 1);
  const Segment segment = segments_.ImportMemoryFile(file->get()).value();
  EXPECT_EQ(segment.size, 5000u);
  auto* bytes = reinterpret_cast<char*>(segment.address);
  EXPECT_EQ(bytes[4999], 'a');
  bytes[0] = 'b';
  char theirs = 0;
  ASSERT_EQ(pread(file->get(), &theirs, 1, 0), 1);
  EXPECT_EQ(theirs, 'b');
  file.reset();
  EXPECT_EQ(bytes[4999], 'a');
  EXPECT_TRUE(segments_.Release(segment).ok());
}

TEST_F(HostSegmentsTest, OneFileHasOneAddressUntilItsLastSegmentIsReleased) {
  const Descriptor file(MakeMemoryFile(4096, F_SEAL_SHRINK));
  const Segment first = segments_.ImportMemoryFile(file.get()).value();
  const Segment second = segments_.ImportMemoryFile(file.get()).value();
  EXPECT_EQ(first.address, second.address);
  EXPECT_NE(first.id, second.id);
  EXPECT_TRUE(segments_.Release(first).ok());
  *reinterpret_cast<char*>(second.address) = 1;  // Still mapped.
  EXPECT_TRUE(segments_.Release(second).ok());
  EXPECT_EQ(segments_.Release(second).code(), absl::StatusCode::kNotFound);
}

TEST_F(HostSegmentsTest, AFileThatGrewIsMappedWithItsNewSize) {
  const Descriptor file(MakeMemoryFile(4096, F_SEAL_SHRINK));
  const Segment first = segments_.ImportMemoryFile(file.get()).value();
  ASSERT_EQ(ftruncate(file.get(), 8192), 0);
  const Segment second = segments_.ImportMemoryFile(file.get()).value();
  EXPECT_EQ(first.size, 4096u);
  EXPECT_EQ(second.size, 8192u);
  *reinterpret_cast<char*>(second.address + 8191) = 1;
}

TEST_F(HostSegmentsTest, APipeIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  ExpectRefused(read_end.get(), absl::StatusCode::kInvalidArgument, "is a pipe");
}

TEST_F(HostSegmentsTest, ADirectoryIsRefused) {
  const Descriptor directory(open("/", O_RDONLY | O_DIRECTORY));
  ExpectRefused(directory.get(), absl::StatusCode::kInvalidArgument, "is a directory");
}

TEST_F(HostSegmentsTest, ASocketIsRefused) {
  const Descriptor socket_end(socket(AF_UNIX, SOCK_STREAM, 0));
  ExpectRefused(socket_end.get(), absl::StatusCode::kInvalidArgument, "is a socket");
}

TEST_F(HostSegmentsTest, ADeviceFileIsRefused) {
  const Descriptor zero(open("/dev/zero", O_RDWR));
  ExpectRefused(zero.get(), absl::StatusCode::kInvalidArgument, "is a character device");
}

TEST_F(HostSegmentsTest, ANumberThatIsNoDescriptorIsRefused) {
  ExpectRefused(-1, absl::StatusCode::kInvalidArgument, "cannot be examined");
}

TEST_F(HostSegmentsTest, AnUnsealedMemoryFileIsRefused) {
  const Descriptor file(MakeMemoryFile(4096, F_SEAL_GROW));
  ExpectRefused(file.get(), absl::StatusCode::kInvalidArgument, "without F_SEAL_SHRINK");
}

TEST_F(HostSegmentsTest, AFileOfADiskIsRefused) {
  const Descriptor file(open("/proc/self/exe", O_RDONLY));
  ExpectRefused(file.get(), absl::StatusCode::kInvalidArgument, "F_SEAL_SHRINK");
}

TEST_F(HostSegmentsTest, AnEmptyMemoryFileIsRefused) {
  const Descriptor file(MakeMemoryFile(0, F_SEAL_SHRINK));
  ExpectRefused(file.get(), absl::StatusCode::kInvalidArgument, "is empty");
}

TEST_F(HostSegmentsTest, AMemoryFileThatMayNotBeWrittenIsRefused) {
  const Descriptor file(MakeMemoryFile(4096, F_SEAL_SHRINK | F_SEAL_WRITE));
  ExpectRefused(file.get(), absl::StatusCode::kInvalidArgument, "may not be written");
}

TEST_F(HostSegmentsTest, AMemoryFileOverTheLimitIsRefused) {
  const Descriptor file(MakeMemoryFile(kLimit + 1, F_SEAL_SHRINK));
  ExpectRefused(file.get(), absl::StatusCode::kResourceExhausted,
                "has 1048577 bytes; this device takes 1048576 at most");
}

TEST_F(HostSegmentsTest, AnIpcHandleIsNotImplementedAndTheSentenceNamesTheGpu) {
  const absl::Status status = segments_.ImportCudaIpc({}, "GPU-1234").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("GPU-1234"));
}

TEST_F(HostSegmentsTest, ReleasingNeverWaitsForTheWorker) {
  EXPECT_FALSE(segments_.ReleaseWaitsForWorker());
}

}  // namespace
}  // namespace gpuos::device
