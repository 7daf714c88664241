// The conformance suite over the system's driver and a real GPU. One file that needs no other, to
// be carried to a machine with a GPU: conformance_gpu [--gtest_...].
#include "daemon/device/cuda/cuda_device.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/cuda/testing/exporter.h"
#include "daemon/device/cuda/worker_image.h"
#include "daemon/device/device_conformance.h"
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

}  // namespace
}  // namespace gpuos::device

int main(int argc, char** argv) {
  int status = 0;
  if (gpuos::device::testing::RunIfExporter(argc, argv, status)) return status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
