// What is particular to device/cuda, over the fake driver: order of calls, errors, cleaning up.
#include "daemon/device/cuda/cuda_device.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/cuda/testing/exporter.h"
#include "daemon/device/cuda/testing/fake_control.h"
#include "daemon/device/device.h"
#include "daemon/device/testing/device_rig.h"
#include "daemon/device/testing/foreign_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

using testing::DeviceRig;
using testing::FakeControl;
using testing::Floats;
using ::testing::HasSubstr;
using testing::MakeTask;

// The fake looks at no more of an image.
constexpr std::byte kImage[] = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};

CudaOptions Options() { return {.image = kImage, .driver_library = FakeControl::kLibrary}; }

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override { fake_.reset(); }
  void TearDown() override {
    EXPECT_EQ(fake_.violations(), 0u) << fake_.violation(0);
    EXPECT_EQ(fake_.live_objects(), 0u);
  }

  static std::unique_ptr<Device> Make(const CudaOptions& options = Options()) {
    absl::StatusOr<std::unique_ptr<Device>> device = CreateCudaDevice(options);
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  static void ExpectError(const absl::Status& status, absl::StatusCode code,
                          const std::string& words) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
  // Position of the first call of `name`.
  std::ptrdiff_t First(const std::string& name) const {
    const std::vector<std::string> calls = fake_.AllCalls();
    const auto found = std::find(calls.begin(), calls.end(), name);
    EXPECT_NE(found, calls.end()) << name << " was not called";
    return found - calls.begin();
  }

  const FakeControl fake_;
};

TEST_F(CudaDeviceTest, EverythingThatWaitsForKernelsComesBeforeTheFirstLaunch) {
  const auto device = Make();
  {
    DeviceRig rig(*device);
    rig.Launch();
    rig.ParkAll();
  }
  const std::ptrdiff_t launch = First("cuLaunchKernel");
  EXPECT_LT(First("cuDevicePrimaryCtxRetain"), First("cuCtxSetLimit"));
  for (const char* name :
       {"cuCtxSetLimit", "cuModuleLoadData", "cuFuncLoad", "cuFuncSetAttribute"}) {
    EXPECT_LT(First(name), launch);
    EXPECT_EQ(fake_.calls(name), 1u) << name;
  }
}

TEST_F(CudaDeviceTest, ALaunchHasABlockForEachMultiprocessorUnlessToldOtherwise) {
  EXPECT_EQ(Make()->worker().runner_blocks(), 3u);
  CudaOptions options = Options();
  options.blocks = 7;
  EXPECT_EQ(Make(options)->worker().runner_blocks(), 6u);
}

TEST_F(CudaDeviceTest, OptionsOutOfRangeAreRefused) {
  CudaOptions options = Options();
  options.blocks = 1;
  ExpectError(CreateCudaDevice(options).status(), absl::StatusCode::kInvalidArgument,
              "blocks is 1");
  options = Options();
  options.image = {};
  ExpectError(CreateCudaDevice(options).status(), absl::StatusCode::kInvalidArgument,
              "image is empty");
  for (const int ordinal : {-1, 1}) {
    options = Options();
    options.ordinal = ordinal;
    ExpectError(CreateCudaDevice(options).status(), absl::StatusCode::kNotFound,
                "there is no cuda:" + std::to_string(ordinal) + "; the driver has 1 devices");
  }
}

TEST_F(CudaDeviceTest, AnImageForAnotherGpuIsRefusedWithTheGpusCapability) {
  fake_.fail("cuModuleLoadData", 1, CUDA_ERROR_NO_BINARY_FOR_GPU);
  ExpectError(CreateCudaDevice(Options()).status(), absl::StatusCode::kFailedPrecondition,
              "cuda:0 has compute capability 9.0; this worker was built for another");
}

// TearDown sees that nothing was left behind.
TEST_F(CudaDeviceTest, AFailureOfAnyStepOfTheStartNamesTheCallAndLeavesNothingBehind) {
  for (const char* name :
       {"cuDeviceGetCount", "cuDeviceGetName", "cuDeviceGetUuid", "cuDeviceTotalMem",
        "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuCtxSetLimit",
        "cuStreamCreate", "cuMemHostAlloc", "cuMemHostGetDevicePointer", "cuModuleLoadData",
        "cuModuleGetFunction", "cuModuleGetGlobal", "cuFuncLoad", "cuFuncSetAttribute"}) {
    fake_.fail(name, 1, CUDA_ERROR_NOT_PERMITTED);
    ExpectError(CreateCudaDevice(Options()).status(), absl::StatusCode::kInternal,
                std::string(name));
    EXPECT_EQ(fake_.live_objects(), 0u) << name;
  }
}

TEST_F(CudaDeviceTest, AFailedCopyIsReportedAndTheNextOneWorks) {
  const auto device = Make();
  const DeviceAddress memory = device->memory().Allocate(4).value();
  std::array<std::byte, 4> bytes{};
  fake_.fail("cuMemcpyHtoDAsync", 1, CUDA_ERROR_INVALID_VALUE);
  ExpectError(device->memory().Write(memory, bytes), absl::StatusCode::kInvalidArgument,
              "cuMemcpyHtoDAsync of 4 bytes to cuda:0 failed");
  fake_.fail("cuMemcpyDtoHAsync", 1, CUDA_ERROR_INVALID_VALUE);
  ExpectError(device->memory().Read(memory, absl::MakeSpan(bytes)),
              absl::StatusCode::kInvalidArgument,
              "cuMemcpyDtoHAsync of 4 bytes from cuda:0 failed");
  EXPECT_TRUE(device->memory().Write(memory, bytes).ok());
}

TEST_F(CudaDeviceTest, ALaunchThatFailsIsNotCounted) {
  const auto device = Make();
  DeviceRig rig(*device);
  fake_.fail("cuLaunchKernel", 1, CUDA_ERROR_INVALID_VALUE);
  ExpectError(device->worker().Launch(0, 1), absl::StatusCode::kInvalidArgument,
              "cuLaunchKernel of the worker, launch 1, 4 blocks, failed");
  rig.Launch();
  rig.ParkAll();
  EXPECT_EQ(device->worker().FinishedLaunches().value(), 1u);
}

TEST_F(CudaDeviceTest, AFaultOfTheWorkerIsDataLossFromEveryCallThatFollows) {
  const auto device = Make();
  DeviceRig rig(*device);
  rig.Launch();
  fake_.fail("cuEventQuery", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
  ExpectError(device->worker().FinishedLaunches().status(), absl::StatusCode::kDataLoss,
              "cuEventQuery of launch 1 of the worker failed: CUDA_ERROR_ILLEGAL_ADDRESS");
  ExpectError(device->memory().Allocate(4).status(), absl::StatusCode::kDataLoss, "are lost");
  ExpectError(
      device->segments().ImportCudaIpc(std::vector<std::byte>(64), device->info().uuid).status(),
      absl::StatusCode::kDataLoss, "cuIpcOpenMemHandle on cuda:0");
  fake_.reset();  // A real context stays lost; the fake's is needed to clean up.
}

TEST_F(CudaDeviceTest, EventsAreUsedAgain) {
  const auto device = Make();
  DeviceRig rig(*device);
  for (std::uint64_t launch = 1; launch <= 20; ++launch) {
    rig.Launch();
    rig.ParkAll();
  }
  EXPECT_EQ(fake_.calls("cuEventCreate"), 1u);
}

TEST_F(CudaDeviceTest, MemoryOfAnotherGpuIsRefusedBeforeTheDriverIsAsked) {
  const auto device = Make();
  const std::vector<std::byte> handle(64);
  ExpectError(device->segments().ImportCudaIpc(handle, "GPU-1234").status(),
              absl::StatusCode::kInvalidArgument,
              "memory lies on 'GPU-1234'; cuda:0 is '" + device->info().uuid + "'");
  EXPECT_EQ(fake_.calls("cuIpcOpenMemHandle"), 0u);
}

TEST_F(CudaDeviceTest, BytesThatAreNoHandleAreRefused) {
  const auto device = Make();
  const std::string& uuid = device->info().uuid;
  ExpectError(device->segments().ImportCudaIpc(std::vector<std::byte>(63), uuid).status(),
              absl::StatusCode::kInvalidArgument, "has 63 bytes; it must have 64");
  ExpectError(
      device->segments().ImportCudaIpc(std::vector<std::byte>(64, std::byte{0xcc}), uuid).status(),
      absl::StatusCode::kInvalidArgument, "the handle must come from cuIpcGetMemHandle");
  ExpectError(device->segments().ImportMemoryFile(0).status(), absl::StatusCode::kUnimplemented,
              "cuda:0 cannot use a memory file");
}

TEST_F(CudaDeviceTest, MemoryOfThisProcessIsRefused) {
  const auto device = Make();
  void* library = dlopen(FakeControl::kLibrary, RTLD_NOW | RTLD_LOCAL);
  const auto get_handle =
      reinterpret_cast<decltype(&::cuIpcGetMemHandle)>(dlsym(library, "cuIpcGetMemHandle"));
  CUipcMemHandle handle{};
  ASSERT_EQ(get_handle(&handle, device->memory().Allocate(4096).value()), CUDA_SUCCESS);
  ExpectError(device->segments()
                  .ImportCudaIpc({reinterpret_cast<const std::byte*>(&handle), sizeof(handle)},
                                 device->info().uuid)
                  .status(),
              absl::StatusCode::kInvalidArgument, "in another process");
}

TEST_F(CudaDeviceTest, AHandleOfAProcessThatIsGoneIsRefused) {
  const auto device = Make();
  // The exporter is asked for nothing but its handle, by an import into another device.
  class Recorder final : public Segments {
   public:
    absl::StatusOr<Segment> ImportMemoryFile(int) override { return Segment{}; }
    absl::StatusOr<Segment> ImportCudaIpc(absl::Span<const std::byte> handle,
                                          const std::string&) override {
      bytes.assign(handle.begin(), handle.end());
      return Segment{};
    }
    absl::Status Release(const Segment&) override { return absl::OkStatus(); }
    bool ReleaseWaitsForWorker() const override { return false; }
    std::vector<std::byte> bytes;
  };
  Recorder recorder;
  testing::StartExporter(FakeControl::kLibrary, 4096)->ImportInto(recorder).IgnoreError();
  ExpectError(device->segments().ImportCudaIpc(recorder.bytes, device->info().uuid).status(),
              absl::StatusCode::kInvalidArgument, "is alive");
}

TEST_F(CudaDeviceTest, ASegmentIsNotUnmappedUnderAResidentWorker) {
  const auto device = Make();
  const auto client = testing::StartExporter(FakeControl::kLibrary, 4096);
  const Segment segment = client->Import(*device).value();
  EXPECT_TRUE(device->segments().ReleaseWaitsForWorker());
  DeviceRig rig(*device);
  rig.Launch();
  ExpectError(device->segments().Release(segment), absl::StatusCode::kFailedPrecondition,
              "cannot be unmapped while the worker is resident on cuda:0");
  EXPECT_EQ(fake_.calls("cuIpcCloseMemHandle"), 0u);
  rig.ParkAll();
  EXPECT_TRUE(device->segments().Release(segment).ok());
  EXPECT_EQ(fake_.calls("cuIpcCloseMemHandle"), 1u);
}

TEST_F(CudaDeviceTest, AnImportWhoseSizeIsUnknownIsTriedAgainWithoutOpeningItTwice) {
  const auto device = Make();
  const auto client = testing::StartExporter(FakeControl::kLibrary, 4096);
  fake_.fail("cuMemGetAddressRange", 1, CUDA_ERROR_NOT_FOUND);
  ExpectError(client->Import(*device).status(), absl::StatusCode::kInternal,
              "cuMemGetAddressRange of an imported handle on cuda:0");
  EXPECT_TRUE(client->Import(*device).ok());
  EXPECT_EQ(fake_.calls("cuIpcOpenMemHandle"), 1u);
}

TEST_F(CudaDeviceTest, SegmentsThatWereNotReleasedAreClosedWithTheDevice) {
  {
    const auto device = Make();
    const auto client = testing::StartExporter(FakeControl::kLibrary, 4096);
    ASSERT_TRUE(client->Import(*device).ok());
  }
  EXPECT_EQ(fake_.calls("cuIpcCloseMemHandle"), 1u);
}

// Shows that the conformance suite's check of the fake's violations can fail.
TEST_F(CudaDeviceTest, TheFakeRefusesACallThatWouldWaitForTheWorker) {
  const auto driver = Driver::Load(FakeControl::kLibrary).value();
  const auto device = Make();
  DeviceRig rig(*device);
  rig.Launch();
  EXPECT_EQ(driver->api().cuMemFree(0), CUDA_ERROR_NOT_PERMITTED);
  rig.ParkAll();
  EXPECT_EQ(driver->api().cuMemFree(0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(fake_.violations(), 1u);
  EXPECT_STREQ(fake_.violation(0), "cuMemFree was called while the worker was running");
  fake_.reset();
}

}  // namespace
}  // namespace gpuos::device

int main(int argc, char** argv) {
  int status = 0;
  if (gpuos::device::testing::RunIfExporter(argc, argv, status)) return status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
