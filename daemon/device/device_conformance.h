// What every device must do, as one suite. A test program names its devices with
// INSTANTIATE_TEST_SUITE_P over DeviceConformanceTest and links :device_conformance.
#ifndef GPUOS_DAEMON_DEVICE_DEVICE_CONFORMANCE_H_
#define GPUOS_DAEMON_DEVICE_DEVICE_CONFORMANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/device/device.h"
#include "daemon/device/testing/device_rig.h"
#include "daemon/device/testing/foreign_memory.h"
#include "gtest/gtest.h"

namespace gpuos::device {

struct DeviceUnderTest {
  std::string name;  // Letters and digits.
  std::function<absl::StatusOr<std::unique_ptr<Device>>()> create;
  // Memory of a client that the device can import.
  std::function<std::unique_ptr<testing::ForeignMemory>(std::uint64_t bytes)> make_foreign;
  // Called when a test's device is gone; adds failures of its own. May be empty.
  std::function<void()> after;
};

// A device of its own for every test, gone at its end.
class DeviceConformanceTest : public ::testing::TestWithParam<DeviceUnderTest> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Device& device() { return *device_; }
  testing::DeviceRig& rig() { return *rig_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<testing::DeviceRig> rig_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_DEVICE_CONFORMANCE_H_
