// The host device: the same worker as on a GPU, on threads, over the executor's own memory and
// clients' memory files. For development, tests and machines without a GPU.
#ifndef GPUOS_DAEMON_DEVICE_HOST_HOST_DEVICE_H_
#define GPUOS_DAEMON_DEVICE_HOST_HOST_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "daemon/device/device.h"

namespace gpuos::device {

struct HostOptions {
  // Threads that step the worker's blocks. 0: as many as the machine has cores, at least 2.
  // Operators that wait for each other need a thread each.
  std::uint32_t threads = 0;
  // The worker's blocks, one of which schedules. 0: two more than threads, so that a thread finds a
  // free block. At least 2.
  std::uint32_t blocks = 0;
  std::uint64_t seed = 1;  // Of the order in which blocks are stepped.
  // What the executor and one segment may hold. 0: as much as the machine has.
  std::uint64_t memory_bytes = 0;
  // Where the operators' code addresses lie, in the order of ops::Builtins(). They must outlive the
  // device.
  DeviceAddress table = 0;
};

// INVALID_ARGUMENT for options out of range; RESOURCE_EXHAUSTED when no descriptor is left.
// Destroying the device joins the worker's threads, so every launch must have its PARK published by
// then.
absl::StatusOr<std::unique_ptr<Device>> CreateHostDevice(const HostOptions& options);

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_HOST_HOST_DEVICE_H_
