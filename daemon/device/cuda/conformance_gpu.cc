// The conformance suite over the system's driver and a real GPU. One file that needs no other, to
// be carried to a machine with a GPU: conformance_gpu [--gtest_...].
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/device/cuda/cuda_device.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/cuda/testing/exporter.h"
#include "daemon/device/cuda/worker_image.h"
#include "daemon/device/device_conformance.h"
#include "daemon/device/testing/device_rig.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

DeviceUnderTest Gpu(const std::string& name, std::uint32_t blocks) {
  return {
      .name = name,
      .create = [blocks] { return CreateCudaDevice({.blocks = blocks, .image = WorkerImage()}); },
      .make_foreign =
          [](std::uint64_t bytes) { return testing::StartExporter(Driver::kLibrary, bytes); },
      .after = {}};
}

// All multiprocessors, the fewest blocks, and the fewest on which two operators run at once.
INSTANTIATE_TEST_SUITE_P(Gpu, DeviceConformanceTest,
                         ::testing::Values(Gpu("AllMultiprocessors", 0), Gpu("TwoBlocks", 2),
                                           Gpu("ThreeBlocks", 3)),
                         [](const auto& info) { return info.param.name; });

// In a process of its own, since its context is lost.
TEST(GpuFaultTest, ATrapIsDataLossAndTheSentenceNamesTheError) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const auto device = CreateCudaDevice({.image = WorkerImage()}).value();
        testing::DeviceRig rig(*device);
        rig.Publish(rig.Load({testing::MakeTask("test.trap", {})}, 0), {});
        rig.Launch();
        absl::StatusOr<std::uint64_t> finished = 0;
        while (finished.ok() && *finished == 0) finished = device->worker().FinishedLaunches();
        std::cerr << finished.status() << std::endl;
        std::_Exit(absl::IsDataLoss(finished.status()) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "CUDA_ERROR_.*the worker and all memory");
}

}  // namespace
}  // namespace gpuos::device

int main(int argc, char** argv) {
  int status = 0;
  if (gpuos::device::testing::RunIfExporter(argc, argv, status)) return status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
