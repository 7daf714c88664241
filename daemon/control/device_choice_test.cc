#include "daemon/control/device_choice.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

constexpr char kHostOnly[] =
    R"({"name":"host:0","uuid":"","model":"A CPU","memory_bytes":1024,"remark":"no CUDA driver"})"
    "\n";
constexpr char kTwoGpus[] =
    R"({"name":"cuda:0","uuid":"GPU-a","model":"NVIDIA H200","memory_bytes":150754820096})"
    "\n"
    R"({"name":"cuda:1","uuid":"GPU-b","model":"NVIDIA H200","memory_bytes":150754820096})"
    "\n"
    R"({"name":"host:0","uuid":"","model":"A CPU","memory_bytes":1024})"
    "\n";

absl::StatusOr<DeviceChoice> Choose(const std::string& wanted, const std::string& list) {
  absl::StatusOr<FoundDevices> found = ParseDeviceList(list);
  if (!found.ok()) return found.status();
  return ChooseDevices(wanted, *found);
}

TEST(DeviceChoiceTest, AutoTakesEveryGpu) {
  const absl::StatusOr<DeviceChoice> choice = Choose("auto", kTwoGpus);
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->devices.size(), 2u);
  EXPECT_EQ(choice->devices[1].uuid(), "GPU-b");
  EXPECT_EQ(choice->devices[0].memory_bytes(), 150754820096u);
}

TEST(DeviceChoiceTest, AutoTakesTheHostWhereThereIsNoGpuAndSaysWhy) {
  const absl::StatusOr<DeviceChoice> choice = Choose("auto", kHostOnly);
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->devices.size(), 1u);
  EXPECT_EQ(choice->devices[0].name(), "host:0");
  EXPECT_EQ(choice->reason, "no CUDA driver");
}

TEST(DeviceChoiceTest, NamesAreTakenInTheirOrder) {
  const absl::StatusOr<DeviceChoice> choice = Choose("host,cuda:1", kTwoGpus);
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->devices.size(), 2u);
  EXPECT_EQ(choice->devices[0].name(), "host:0");
  EXPECT_EQ(choice->devices[1].name(), "cuda:1");
}

TEST(DeviceChoiceTest, AnUnknownNameIsNotFoundAndADoubleOneInvalid) {
  const absl::Status missing = Choose("cuda:0", kHostOnly).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_EQ(missing.message(),
            "--device names \"cuda:0\", which this machine does not have; it has host:0 "
            "(no CUDA driver)");
  EXPECT_TRUE(absl::IsInvalidArgument(Choose("host,host:0", kHostOnly).status()));
  EXPECT_TRUE(absl::IsNotFound(Choose("", kHostOnly).status()));
}

TEST(DeviceChoiceTest, LinesThatAreNoDevicesAreRefused) {
  for (const char* line : {"oops", "[]", "{}", R"({"name":7})", "{\"name\""}) {
    const absl::Status status = ParseDeviceList(line).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << line;
    EXPECT_NE(status.message().find(line), absl::string_view::npos);
  }
  EXPECT_TRUE(absl::IsNotFound(Choose("auto", "").status()));
}

}  // namespace
}  // namespace gpuos::control
