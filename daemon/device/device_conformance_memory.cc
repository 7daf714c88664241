// Memory, and memory of clients.
#include <poll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/device/device_conformance.h"
#include "gmock/gmock.h"

namespace gpuos::device {
namespace {

using ::testing::Each;
using testing::Floats;
using testing::ForeignMemory;
using ::testing::HasSubstr;
using testing::LoadedProgram;
using testing::MakeTask;
using ::testing::Not;

// More than any staging buffer, and no multiple of one.
constexpr std::size_t kLarge = (std::size_t{3} << 20) + 5;

absl::Span<const std::byte> BytesOf(const std::vector<float>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)};
}

TEST_P(DeviceConformanceTest, SaysWhatItIs) {
  const Info& info = device().info();
  EXPECT_THAT(info.name, HasSubstr(":"));
  EXPECT_THAT(info.model, Not(::testing::IsEmpty()));
  EXPECT_GT(info.memory_bytes, 0u);
  EXPECT_THAT(info.sharing, ::testing::AnyOf("threads", "isolated", "shared"));
  EXPECT_GE(device().worker().runner_blocks(), 1u);
  EXPECT_NE(device().worker().BuiltinTable(), 0u);
}

TEST_P(DeviceConformanceTest, AllocatedMemoryIsZeroedAndAligned) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{257}, kLarge}) {
    const absl::StatusOr<DeviceAddress> memory = device().memory().Allocate(bytes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(*memory % 256, 0u);
    EXPECT_TRUE(rig().ReadBytes(*memory, bytes) == std::vector<std::byte>(bytes));
  }
}

TEST_P(DeviceConformanceTest, SharedMemoryIsZeroedAndAligned) {
  const absl::StatusOr<SharedBytes> shared = device().AllocateShared(5000);
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shared->host) % 4096, 0u);
  EXPECT_EQ(shared->device % 4096, 0u);
  EXPECT_THAT(std::vector<std::byte>(shared->host, shared->host + 5000), Each(std::byte{0}));
}

TEST_P(DeviceConformanceTest, WrittenBytesAreReadBackAtAnyOffsetAndLength) {
  const DeviceAddress memory = rig().NewBytes(kLarge + 1);
  std::vector<std::byte> bytes(kLarge);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  ASSERT_TRUE(device().memory().Write(memory + 1, bytes).ok());
  ASSERT_TRUE(device().memory().Write(memory, {}).ok());
  ASSERT_TRUE(device().memory().Read(memory, {}).ok());
  EXPECT_EQ(rig().ReadBytes(memory, 1)[0], std::byte{0});
  EXPECT_TRUE(rig().ReadBytes(memory + 1, kLarge) == bytes);
  EXPECT_EQ(rig().ReadBytes(memory + 1000, 1)[0], bytes[999]);
}

TEST_P(DeviceConformanceTest, ZeroBytesAreRefused) {
  EXPECT_EQ(device().memory().Allocate(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device().AllocateShared(0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceConformanceTest, MoreThanThereIsIsRefusedWithBothNumbersAndTheDeviceGoesOn) {
  constexpr std::size_t kHuge = std::size_t{1} << 50;
  const absl::Status status = device().memory().Allocate(kHuge).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(kHuge)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("are free"));
  const absl::Status shared = device().AllocateShared(kHuge).status();
  EXPECT_EQ(shared.code(), absl::StatusCode::kResourceExhausted) << shared;
  EXPECT_THAT(std::string(shared.message()), HasSubstr("are free"));
  EXPECT_TRUE(device().memory().Allocate(4096).ok());
}

TEST_P(DeviceConformanceTest, MemoryIsAllocatedWrittenAndReadWhileTheWorkerIsResident) {
  rig().Launch();
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(2, 4), Floats(0, 4), Floats(1, 4)})}, 3);
  const DeviceAddress a = rig().NewFloats({1, 2, 3, 4});
  const DeviceAddress out = rig().NewBytes(kLarge);
  EXPECT_EQ(rig().Run(add, {a, a, out}).code, abi::BatchCode::kOk);
  EXPECT_EQ(rig().ReadFloats(out, 4), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(DeviceConformanceTest, ABatchWorksOnAClientsMemory) {
  const std::unique_ptr<ForeignMemory> client = GetParam().make_foreign(kLarge);
  const std::vector<float> ours{1, 2, 3, 4};
  client->Write(256, BytesOf(ours));
  const absl::StatusOr<Segment> segment = client->Import(device());
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_GE(segment->size, kLarge);
  const LoadedProgram add =
      rig().Load({MakeTask("add", {Floats(1, 4), Floats(0, 4, 256), Floats(0, 4, 256)})}, 2);
  rig().Launch();
  EXPECT_EQ(rig().Run(add, {segment->address, segment->address + 512}).code, abi::BatchCode::kOk);
  rig().ParkAll();
  std::vector<float> theirs(4);
  client->Read(512, {reinterpret_cast<std::byte*>(theirs.data()), 16});
  EXPECT_EQ(theirs, (std::vector<float>{2, 4, 6, 8}));
  EXPECT_TRUE(device().segments().Release(*segment).ok());
}

TEST_P(DeviceConformanceTest, MemoryThatIsImportedTwiceHasOneAddressUntilItsLastRelease) {
  const std::unique_ptr<ForeignMemory> client = GetParam().make_foreign(4096);
  const absl::StatusOr<Segment> first = client->Import(device());
  const absl::StatusOr<Segment> second = client->Import(device());
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->address, second->address);
  EXPECT_NE(first->id, second->id);
  EXPECT_TRUE(device().segments().Release(*first).ok());
  EXPECT_EQ(device().segments().Release(*first).code(), absl::StatusCode::kNotFound);
  client->Write(0, BytesOf({5}));
  EXPECT_EQ(rig().ReadFloats(second->address, 1), std::vector<float>{5});
  EXPECT_TRUE(device().segments().Release(*second).ok());
}

TEST_P(DeviceConformanceTest, AClientsMemoryIsImportedWhileTheWorkerIsResident) {
  rig().Launch();
  const std::unique_ptr<ForeignMemory> client = GetParam().make_foreign(4096);
  const absl::StatusOr<Segment> segment = client->Import(device());
  ASSERT_TRUE(segment.ok()) << segment.status();
  const LoadedProgram fill = rig().Load({MakeTask("fill", {Floats(0, 4)})}, 1);
  client->Write(0, BytesOf({1, 1, 1, 1}));
  EXPECT_EQ(rig().Run(fill, {segment->address}).code, abi::BatchCode::kOk);
  std::vector<float> theirs(4, 1);
  client->Read(0, {reinterpret_cast<std::byte*>(theirs.data()), 16});
  EXPECT_THAT(theirs, Each(0.0f));
  rig().ParkAll();
  EXPECT_TRUE(device().segments().Release(*segment).ok());
}

TEST_P(DeviceConformanceTest, TheMemoryOfAClientThatIsGoneIsReleasedAsUsual) {
  std::unique_ptr<ForeignMemory> client = GetParam().make_foreign(4096);
  const absl::StatusOr<Segment> segment = client->Import(device());
  ASSERT_TRUE(segment.ok()) << segment.status();
  client.reset();
  EXPECT_TRUE(device().segments().Release(*segment).ok());
}

TEST_P(DeviceConformanceTest, TheCompletionDescriptorIsReadableOnceABatchHasCompleted) {
  const int descriptor = device().completion_descriptor();
  if (descriptor < 0) GTEST_SKIP() << "this device is polled";
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  rig().Publish(rig().Load({}, 0), {});
  rig().Launch();
  EXPECT_EQ(poll(&waiting, 1, 10000), 1);
  rig().Await();
}

}  // namespace
}  // namespace gpuos::device
