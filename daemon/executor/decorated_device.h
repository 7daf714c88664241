// For tests: a device that passes everything on to another and behaves worse in chosen ways.
#ifndef GPUOS_DAEMON_EXECUTOR_DECORATED_DEVICE_H_
#define GPUOS_DAEMON_EXECUTOR_DECORATED_DEVICE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"

namespace gpuos::executor {

// Set at any time; read by the decorated device.
struct Misbehaviour {
  // Release waits for the worker, as legacy CUDA IPC handles do.
  bool release_waits = false;
  // Launches return when the worker has left, as under compute-sanitizer.
  bool synchronous_launch = false;
  // What FinishedLaunches says.
  absl::Status fault;

  // Seen by the device.
  std::uint64_t launches = 0;
  std::uint64_t releases = 0;
  std::uint64_t releases_while_resident = 0;
};

class DecoratedDevice final : public device::Device, device::Segments, device::Worker {
 public:
  // `misbehaviour` must outlive the device.
  DecoratedDevice(std::unique_ptr<device::Device> inner, Misbehaviour& misbehaviour)
      : inner_(std::move(inner)), how_(misbehaviour) {}

  const device::Info& info() const override { return inner_->info(); }
  device::Memory& memory() override { return inner_->memory(); }
  device::Segments& segments() override { return *this; }
  device::Worker& worker() override { return *this; }
  absl::StatusOr<device::SharedBytes> AllocateShared(std::size_t bytes) override {
    return inner_->AllocateShared(bytes);
  }
  int completion_descriptor() const override { return inner_->completion_descriptor(); }

 private:
  absl::StatusOr<device::Segment> ImportMemoryFile(int descriptor) override {
    return inner_->segments().ImportMemoryFile(descriptor);
  }
  absl::StatusOr<device::Segment> ImportCudaIpc(absl::Span<const std::byte> handle,
                                                const std::string& uuid) override {
    return inner_->segments().ImportCudaIpc(handle, uuid);
  }
  absl::Status Release(const device::Segment& segment) override {
    ++how_.releases;
    if (*inner_->worker().FinishedLaunches() < how_.launches) ++how_.releases_while_resident;
    return inner_->segments().Release(segment);
  }
  bool ReleaseWaitsForWorker() const override { return how_.release_waits; }

  absl::Status Launch(device::DeviceAddress state, std::uint64_t launch) override {
    how_.launches = launch;
    const absl::Status launched = inner_->worker().Launch(state, launch);
    while (how_.synchronous_launch && *inner_->worker().FinishedLaunches() < launch) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return launched;
  }
  absl::StatusOr<std::uint64_t> FinishedLaunches() override {
    if (!how_.fault.ok()) return how_.fault;
    return inner_->worker().FinishedLaunches();
  }
  device::DeviceAddress BuiltinTable() const override { return inner_->worker().BuiltinTable(); }
  std::uint32_t runner_blocks() const override { return inner_->worker().runner_blocks(); }

  const std::unique_ptr<device::Device> inner_;
  Misbehaviour& how_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_DECORATED_DEVICE_H_
