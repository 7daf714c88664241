#include "daemon/program/view_check.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::program {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMaxI64 = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

google::protobuf::RepeatedPtrField<v1::Slot> Slots(std::initializer_list<std::uint64_t> lengths) {
  google::protobuf::RepeatedPtrField<v1::Slot> slots;
  for (const std::uint64_t length : lengths) slots.Add()->set_length(length);
  return slots;
}

v1::View MakeView(std::uint64_t offset, std::initializer_list<std::int64_t> sizes,
                  std::initializer_list<std::int64_t> strides, v1::DType dtype = v1::DTYPE_F32) {
  v1::View view;
  view.set_offset(offset);
  view.set_dtype(dtype);
  for (const std::int64_t size : sizes) view.add_sizes(size);
  for (const std::int64_t stride : strides) view.add_strides(stride);
  return view;
}

absl::StatusOr<abi::View> Check(const v1::View& view, std::uint64_t slot_length) {
  return CheckView(view, Slots({slot_length}), OperandPath{.task = 3, .operand = 1});
}

void ExpectRefused(const v1::View& view, std::uint64_t slot_length, const std::string& sentence) {
  const absl::StatusOr<abi::View> checked = Check(view, slot_length);
  ASSERT_EQ(checked.status().code(), absl::StatusCode::kInvalidArgument) << view.DebugString();
  EXPECT_THAT(std::string(checked.status().message()), HasSubstr(sentence));
}

TEST(ViewCheck, KeepsWhatTheClientGaveAndFillsUnusedDimensions) {
  const absl::StatusOr<abi::View> view = Check(MakeView(8, {2, 3}, {3, 1}), 32);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->slot, 0u);
  EXPECT_EQ(view->dtype, abi::DType::kF32);
  EXPECT_EQ(view->dims, 2);
  EXPECT_EQ(view->offset, 8u);
  EXPECT_EQ(view->elements, 6);
  EXPECT_EQ(view->sizes[1], 3);
  EXPECT_EQ(view->strides[0], 3);
  EXPECT_EQ(view->sizes[2], 1);
  EXPECT_EQ(view->strides[7], 0);
}

TEST(ViewCheck, ViewMayEndExactlyWhereTheSlotEnds) {
  EXPECT_TRUE(Check(MakeView(0, {2, 3}, {3, 1}), 24).ok());
  ExpectRefused(MakeView(0, {2, 3}, {3, 1}), 23,
                "tasks[3].operands[1] ends at byte 24 of slots[0], which has 23 bytes");
  ExpectRefused(MakeView(4, {2, 3}, {3, 1}), 24, "ends at byte 28");
}

TEST(ViewCheck, ScalarIsOneElement) {
  const absl::StatusOr<abi::View> view = Check(MakeView(0, {}, {}), 4);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->elements, 1);
  ExpectRefused(MakeView(0, {}, {}), 3, "ends at byte 4");
}

TEST(ViewCheck, BroadcastTouchesOneElement) {
  const absl::StatusOr<abi::View> view = Check(MakeView(0, {1000, 1000}, {0, 0}), 4);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->elements, 1000000);
}

TEST(ViewCheck, ViewWithoutElementsTouchesNothing) {
  const absl::StatusOr<abi::View> view = Check(MakeView(4096, {5, 0, 7}, {1000, 1, kMaxI64}), 0);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->elements, 0);
}

TEST(ViewCheck, RefusesSlotThatTheProgramDoesNotHave) {
  v1::View view = MakeView(0, {1}, {1});
  view.set_slot(1);
  ExpectRefused(view, 64, "tasks[3].operands[1].slot is 1, but the program has 1 slots");
  view.set_slot(std::numeric_limits<std::uint32_t>::max());
  ExpectRefused(view, 64, "slot is 4294967295");
}

TEST(ViewCheck, RefusesDTypesThatAreNone) {
  ExpectRefused(MakeView(0, {1}, {1}, v1::DTYPE_UNSPECIFIED), 64, ".dtype is not set");
  v1::View view = MakeView(0, {1}, {1});
  for (const int number : {4, 31, 255, 256 + 1, -1, std::numeric_limits<int>::max()}) {
    view.set_dtype(static_cast<v1::DType>(number));
    ExpectRefused(view, 64, ".dtype is " + std::to_string(number));
  }
}

TEST(ViewCheck, RefusesMoreThanEightDimensions) {
  EXPECT_TRUE(Check(MakeView(0, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}), 4).ok());
  ExpectRefused(MakeView(0, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}), 4,
                ".sizes has 9 dimensions; at most 8");
}

TEST(ViewCheck, RefusesSizesWithoutAStrideEach) {
  ExpectRefused(MakeView(0, {2, 3}, {1}), 64, ".strides has 1 values for 2 sizes");
  ExpectRefused(MakeView(0, {}, {1}), 64, ".strides has 1 values for 0 sizes");
}

TEST(ViewCheck, RefusesNegativeSizesAndStrides) {
  ExpectRefused(MakeView(0, {2, 3}, {-4, 1}), 64,
                "tasks[3].operands[1].strides[0] is -4; strides must be 0 or more");
  ExpectRefused(MakeView(0, {2, std::numeric_limits<std::int64_t>::min()}, {1, 1}), 64,
                ".sizes[1] is -9223372036854775808; sizes must be 0 or more");
  ExpectRefused(MakeView(0, {0, -1}, {1, 1}), 64, ".sizes[1] is -1");
}

TEST(ViewCheck, RefusesOffsetsInsideAnElement) {
  ExpectRefused(MakeView(2, {1}, {1}), 64, ".offset is 2; it must be a multiple of 4");
  ExpectRefused(MakeView(4, {1}, {1}, v1::DTYPE_I64), 64,
                ".offset is 4; it must be a multiple of 8");
  EXPECT_TRUE(Check(MakeView(3, {1}, {1}, v1::DTYPE_BOOL), 64).ok());
}

TEST(ViewCheck, RefusesElementCountsBeyond63Bits) {
  constexpr std::int64_t k31 = std::int64_t{1} << 31;
  EXPECT_TRUE(Check(MakeView(0, {k31, k31}, {0, 0}), 4).ok());
  EXPECT_TRUE(Check(MakeView(0, {kMaxI64}, {0}), 4).ok());
  ExpectRefused(MakeView(0, {k31, k31, 2}, {0, 0, 0}), 4, ".sizes multiply to more than 2^63 - 1");
  ExpectRefused(MakeView(0, {kMaxI64, kMaxI64}, {0, 0}), 4, ".sizes multiply to more than");
  ExpectRefused(MakeView(0, {kMaxI64, 0, 2}, {0, 0, 0}), 4, ".sizes multiply to more than");
}

TEST(ViewCheck, RefusesExtentsBeyond64Bits) {
  ExpectRefused(MakeView(0, {3}, {kMaxI64}), kMaxU64, "reach beyond 64 bits");
  ExpectRefused(MakeView(0, {kMaxI64}, {kMaxI64}), kMaxU64, "reach beyond 64 bits");
  ExpectRefused(MakeView(0, {2, 2, 2}, {kMaxI64, kMaxI64, 2}, v1::DTYPE_BOOL), kMaxU64,
                "reach beyond 64 bits");
  // 2^62 + 1 elements of 4 bytes: the product with the element's size overflows alone.
  ExpectRefused(MakeView(0, {2}, {std::int64_t{1} << 62}), kMaxU64, "reach beyond 64 bits");
}

TEST(ViewCheck, RefusesOffsetsThatWrapAround) {
  ExpectRefused(MakeView(kMaxU64 - 3, {2}, {1}), 64, "together beyond 64 bits");
  ExpectRefused(MakeView(kMaxU64 - 7, {1}, {1}), 64, "ends at byte 18446744073709551612");
}

TEST(ViewCheck, TakesSlotsNearTheLargestLength) {
  EXPECT_TRUE(Check(MakeView(kMaxU64 - 1, {1}, {1}, v1::DTYPE_BOOL), kMaxU64).ok());
  EXPECT_TRUE(Check(MakeView(0, {2}, {kMaxI64}, v1::DTYPE_BOOL), std::uint64_t{1} << 63).ok());
  ExpectRefused(MakeView(0, {2}, {kMaxI64}, v1::DTYPE_BOOL), (std::uint64_t{1} << 63) - 1,
                "ends at byte 9223372036854775808");
}

TEST(ViewCheck, OutputsMayNotBroadcast) {
  const OperandPath path{.task = 7, .operand = 0};
  const absl::StatusOr<abi::View> broadcast = Check(MakeView(0, {3, 4}, {0, 1}), 64);
  ASSERT_TRUE(broadcast.ok());
  const absl::Status status = CheckWritable(*broadcast, path);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("tasks[7].operands[0].strides[0] is 0 over a size of 3 in an output"));
  EXPECT_TRUE(CheckWritable(*Check(MakeView(0, {1, 4}, {0, 1}), 64), path).ok());
  EXPECT_TRUE(CheckWritable(*Check(MakeView(0, {3, 0}, {0, 0}), 64), path).ok());
}

}  // namespace
}  // namespace gpuos::program
