#include "daemon/device/cuda/driver.h"

#include <stdlib.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/device/cuda/list.h"
#include "daemon/device/cuda/testing/fake_control.h"
#include "daemon/device/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

using ::testing::Contains;
using testing::FakeControl;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Sets a variable of the environment as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override { fake_.reset(); }

  static void ExpectError(const absl::Status& status, absl::StatusCode code,
                          const std::string& words) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }

  const FakeControl fake_;
};

TEST_F(DriverTest, EveryEntryPointIsFoundAndTheDriverIsInitialized) {
  const auto driver = Driver::Load(FakeControl::kLibrary);
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_NE((*driver)->api().cuLaunchKernel, nullptr);
  EXPECT_EQ(fake_.calls("cuInit"), 1u);
  EXPECT_STREQ(getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
  EXPECT_STREQ(getenv("CUDA_MODULE_LOADING"), "EAGER");
}

TEST_F(DriverTest, WhatTheEnvironmentSaysIsLeftAsItIs) {
  const Variable connections("CUDA_DEVICE_MAX_CONNECTIONS", "8");
  ASSERT_TRUE(Driver::Load(FakeControl::kLibrary).ok());
  EXPECT_STREQ(getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "8");
}

TEST_F(DriverTest, AMissingLibraryIsUnavailableAndNamed) {
  ExpectError(Driver::Load("libno-such-driver.so").status(), absl::StatusCode::kUnavailable,
              "the NVIDIA driver (libno-such-driver.so) cannot be used");
}

TEST_F(DriverTest, AnOldDriverIsRefusedWithBothVersions) {
  const Variable version("GPUOS_FAKE_DRIVER_VERSION", "12040");
  ExpectError(Driver::Load(FakeControl::kLibrary).status(), absl::StatusCode::kFailedPrecondition,
              "supports CUDA 12.4; gpuosd needs 13.0");
}

TEST_F(DriverTest, AMissingEntryPointIsUnavailableAndNamed) {
  fake_.fail("cuGetProcAddress", 1, CUDA_ERROR_NOT_FOUND);
  ExpectError(Driver::Load(FakeControl::kLibrary).status(), absl::StatusCode::kUnavailable,
              "it has no cuCtxSetCurrent");
}

TEST_F(DriverTest, ADriverWithoutADeviceIsUnavailable) {
  const Variable devices("GPUOS_FAKE_DEVICES", "0");
  ExpectError(Driver::Load(FakeControl::kLibrary).status(), absl::StatusCode::kUnavailable,
              "CUDA_ERROR_NO_DEVICE");
}

TEST_F(DriverTest, ListingNamesEveryDeviceAndMakesNoContext) {
  const Variable devices("GPUOS_FAKE_DEVICES", "2");
  const auto list = ListCudaDevices(FakeControl::kLibrary);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].name, "cuda:0");
  EXPECT_EQ((*list)[0].uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe00");
  EXPECT_EQ((*list)[0].model, "Fake GPU");
  EXPECT_EQ((*list)[0].memory_bytes, std::uint64_t{8} << 30);
  EXPECT_EQ((*list)[0].sharing, "isolated");
  EXPECT_THAT((*list)[0].remark, HasSubstr("0.3 ms a batch"));
  EXPECT_EQ((*list)[1].name, "cuda:1");
  EXPECT_EQ((*list)[1].uuid, "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfe01");
  EXPECT_THAT(fake_.AllCalls(), Not(Contains(StartsWith("cuDevicePrimaryCtx"))));
}

TEST_F(DriverTest, AGpuUnderMpsIsShared) {
  const Variable mps("GPUOS_FAKE_MPS", "1");
  const auto list = ListCudaDevices(FakeControl::kLibrary);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ((*list)[0].sharing, "shared");
  EXPECT_THAT((*list)[0].remark, HasSubstr("a fault of any CUDA program"));
}

TEST_F(DriverTest, ListingWithoutADriverOrADeviceIsUnavailable) {
  EXPECT_EQ(ListCudaDevices("libno-such-driver.so").status().code(),
            absl::StatusCode::kUnavailable);
  const Variable devices("GPUOS_FAKE_DEVICES", "0");
  EXPECT_EQ(ListCudaDevices(FakeControl::kLibrary).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace gpuos::device
