#include "absl/status/status.h"
#include "daemon/device/device_conformance.h"
#include "daemon/device/host/host_device.h"
#include "daemon/device/testing/foreign_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/ops/builtins.h"

namespace gpuos::device {
namespace {

HostOptions Options(std::uint32_t threads, std::uint32_t blocks, std::uint64_t seed) {
  return {.threads = threads,
          .blocks = blocks,
          .seed = seed,
          .memory_bytes = std::uint64_t{1} << 30,
          .table = reinterpret_cast<DeviceAddress>(ops::HostTable())};
}

DeviceUnderTest Host(const std::string& name, const HostOptions& options) {
  return {.name = name,
          .create = [options] { return CreateHostDevice(options); },
          .make_foreign = testing::MakeMemoryFile,
          .after = {}};
}

INSTANTIATE_TEST_SUITE_P(Host, DeviceConformanceTest,
                         ::testing::Values(Host("FewBlocks", Options(2, 3, 1)),
                                           Host("ManyBlocks", Options(3, 24, 2))),
                         [](const auto& info) { return info.param.name; });

TEST(HostDeviceTest, OneBlockIsRefused) {
  const absl::Status status = CreateHostDevice(Options(2, 1, 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("blocks is 1"));
}

TEST(HostDeviceTest, AMissingTableIsRefused) {
  EXPECT_EQ(CreateHostDevice({}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(HostDeviceTest, DefaultsFitTheMachine) {
  const auto device =
      CreateHostDevice({.table = reinterpret_cast<DeviceAddress>(ops::HostTable())}).value();
  EXPECT_EQ(device->info().name, "host:0");
  EXPECT_EQ(device->info().sharing, "threads");
  EXPECT_GE(device->worker().runner_blocks(), 2u);
  EXPECT_GT(device->info().memory_bytes, std::uint64_t{1} << 28);
}

}  // namespace
}  // namespace gpuos::device
