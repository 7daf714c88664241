#include "client/cli/units.h"

#include <gtest/gtest.h>

namespace gpuos::cli {
namespace {

TEST(UnitsTest, CountsHaveAThousandsSeparator) {
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Count(1000), "1,000");
  EXPECT_EQ(Count(1234567), "1,234,567");
}

TEST(UnitsTest, BytesHaveABinaryUnit) {
  EXPECT_EQ(Bytes(0), "0 B");
  EXPECT_EQ(Bytes(1023), "1023 B");
  EXPECT_EQ(Bytes(1536), "1.5 KiB");
  EXPECT_EQ(Bytes(std::uint64_t{140} << 30), "140.0 GiB");
  EXPECT_EQ(Bytes(~std::uint64_t{0}), "16384.0 PiB");
}

TEST(UnitsTest, DurationsHaveTheTwoLargestUnits) {
  EXPECT_EQ(Duration(-1), "0 s");
  EXPECT_EQ(Duration(12.9), "12 s");
  EXPECT_EQ(Duration(60), "1 min");
  EXPECT_EQ(Duration(185), "3 min 5 s");
  EXPECT_EQ(Duration(7500), "2 h 5 min");
  EXPECT_EQ(Duration(40 * 86400 + 3 * 3600 + 59), "40 d 3 h");
}

TEST(UnitsTest, NamesAreTheProtosWithoutTheirPrefix) {
  EXPECT_EQ(Name(v1::EXECUTOR_STATE_REPLACING), "replacing");
  EXPECT_EQ(Name(v1::RESIDENCE_DEDICATED), "dedicated");
  EXPECT_EQ(Name(v1::OPERATOR_STATE_LIVE), "live");
  EXPECT_EQ(Name(v1::DTYPE_F32), "f32");
  EXPECT_EQ(Name(static_cast<v1::DType>(77)), "77");
}

TEST(UnitsTest, RemarksNameTheirDevice) {
  v1::DeviceStatus device;
  EXPECT_EQ(Remarks(device), "");
  device.mutable_device()->set_name("cuda:0");
  device.set_remark("no MPS");
  device.set_last_failure("killed by signal 9");
  EXPECT_EQ(Remarks(device),
            "cuda:0: no MPS\ncuda:0: its last executor was lost: killed by signal 9\n");
}

}  // namespace
}  // namespace gpuos::cli
