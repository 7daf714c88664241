// The conformance suite over the fake driver.
#include "absl/status/status.h"
#include "daemon/device/cuda/cuda_device.h"
#include "daemon/device/cuda/testing/exporter.h"
#include "daemon/device/cuda/testing/fake_control.h"
#include "daemon/device/cuda/worker_image.h"
#include "daemon/device/device_conformance.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

using testing::FakeControl;

void ExpectNothingBlockedAndNothingIsLeft() {
  const FakeControl fake;
  EXPECT_EQ(fake.violations(), 0u) << fake.violation(0);
  EXPECT_EQ(fake.live_objects(), 0u);
  fake.reset();
}

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceConformanceTest,
                         ::testing::Values(DeviceUnderTest{
                             .name = "FakeDriver",
                             .create =
                                 [] {
                                   return CreateCudaDevice(
                                       {.image = WorkerImage(),
                                        .driver_library = FakeControl::kLibrary});
                                 },
                             .make_foreign =
                                 [](std::uint64_t bytes) {
                                   return testing::StartExporter(FakeControl::kLibrary, bytes);
                                 },
                             .after = ExpectNothingBlockedAndNothingIsLeft}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace gpuos::device

int main(int argc, char** argv) {
  int status = 0;
  if (gpuos::device::testing::RunIfExporter(argc, argv, status)) return status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
