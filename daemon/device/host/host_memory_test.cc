#include "daemon/device/host/host_memory.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

using testing::Each;
using testing::HasSubstr;

std::vector<std::byte> ReadAll(Memory& memory, DeviceAddress from, std::size_t bytes) {
  std::vector<std::byte> out(bytes, std::byte{0xee});
  EXPECT_TRUE(memory.Read(from, absl::MakeSpan(out)).ok());
  return out;
}

TEST(HostMemoryTest, AllocationsAreZeroedAlignedAndApart) {
  HostMemory memory(1 << 20);
  const DeviceAddress a = memory.Allocate(100).value();
  const DeviceAddress b = memory.Allocate(1).value();
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(b % 256, 0u);
  EXPECT_NE(a, b);
  EXPECT_THAT(ReadAll(memory, a, 100), Each(std::byte{0}));
}

TEST(HostMemoryTest, SharedMemoryIsOnePageAlignedAddressForBoth) {
  HostMemory memory(1 << 20);
  const SharedBytes shared = memory.AllocateShared(10).value();
  EXPECT_EQ(shared.device % 4096, 0u);
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(shared.host), shared.device);
  shared.host[9] = std::byte{7};
  EXPECT_EQ(ReadAll(memory, shared.device, 10)[9], std::byte{7});
}

TEST(HostMemoryTest, WrittenBytesAreReadBackAndEmptyCopiesDoNothing) {
  HostMemory memory(1 << 20);
  const DeviceAddress a = memory.Allocate(4).value();
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}};
  ASSERT_TRUE(memory.Write(a + 1, bytes).ok());
  ASSERT_TRUE(memory.Write(a, {}).ok());
  ASSERT_TRUE(memory.Read(a, {}).ok());
  EXPECT_EQ(ReadAll(memory, a, 4),
            (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{0}}));
}

TEST(HostMemoryTest, BeyondTheLimitTheSentenceSaysWhatWasAskedAndWhatIsFree) {
  HostMemory memory(1000);
  ASSERT_TRUE(memory.Allocate(600).ok());
  for (const std::size_t bytes : {std::size_t{401}, SIZE_MAX, SIZE_MAX - 255}) {
    const absl::Status status = memory.Allocate(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(std::to_string(bytes) + " bytes were asked for and 400 of 1000 are free"));
  }
  EXPECT_TRUE(memory.AllocateShared(400).ok());
}

TEST(HostMemoryTest, ZeroBytesAreRefused) {
  HostMemory memory(1000);
  EXPECT_EQ(memory.Allocate(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(memory.AllocateShared(0).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace gpuos::device
