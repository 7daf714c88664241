// The layout that programs, queues and images on disk rely on, byte for byte.
#include <cstring>

#include "gtest/gtest.h"
#include "kernels/abi/program.h"
#include "kernels/abi/queue.h"
#include "kernels/abi/worker_state.h"

namespace gpuos::abi {
namespace {

TEST(Abi, ReadyItemKeepsItsParts) {
  const ReadyItem item = MakeReadyItem(7, 63, 65535);
  EXPECT_EQ(item, 0x00000008'003fffffu);
  EXPECT_EQ(LapTag(item), 8u);
  EXPECT_EQ(WindowOf(item), 63u);
  EXPECT_EQ(TaskOf(item), 65535u);
}

TEST(Abi, ReadyItemOfTheFirstLapIsNotZero) { EXPECT_NE(MakeReadyItem(0, 0, 0), 0u); }

TEST(Abi, QueueEntryHasItsGoldenBytes) {
  const QueueEntry entry{.kind = EntryKind::kBatch,
                         .window = 0x11,
                         .id = 0x22,
                         .program = 0x33,
                         .state = 0x44,
                         .table = 0x55,
                         .bindings = 0x66,
                         .reserved = {}};
  unsigned char want[64] = {};
  want[0] = 1;
  want[4] = 0x11;
  want[8] = 0x22;
  want[16] = 0x33;
  want[24] = 0x44;
  want[32] = 0x55;
  want[40] = 0x66;
  EXPECT_EQ(std::memcmp(&entry, want, sizeof(want)), 0);
}

TEST(Abi, BatchStateHasRoomForBindingsAndTasks) {
  EXPECT_EQ(BatchStateBytes(0, 0), 64u);
  EXPECT_EQ(BatchStateBytes(1, 1), 64u + 16 + 16);
  EXPECT_EQ(BatchStateBytes(3, 2), 64u + 32 + 32);
}

TEST(Abi, DTypeSizesAreThoseOfTheElements) {
  EXPECT_EQ(SizeOf(DType::kF32), sizeof(float));
  EXPECT_EQ(SizeOf(DType::kI64), sizeof(std::int64_t));
  EXPECT_EQ(SizeOf(DType::kBool), 1u);
  EXPECT_EQ(SizeOf(static_cast<DType>(200)), 0u);
}

}  // namespace
}  // namespace gpuos::abi
