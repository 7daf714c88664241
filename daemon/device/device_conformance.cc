#include "daemon/device/device_conformance.h"

#include <utility>

namespace gpuos::device {

void DeviceConformanceTest::SetUp() {
  absl::StatusOr<std::unique_ptr<Device>> device = GetParam().create();
  ASSERT_TRUE(device.ok()) << device.status();
  device_ = *std::move(device);
  rig_ = std::make_unique<testing::DeviceRig>(*device_);
}

void DeviceConformanceTest::TearDown() {
  rig_.reset();
  device_.reset();
  if (GetParam().after) GetParam().after();
}

}  // namespace gpuos::device
