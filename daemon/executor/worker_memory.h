// The memory that the executor shares with its worker, laid out once when a device is taken.
#ifndef GPUOS_DAEMON_EXECUTOR_WORKER_MEMORY_H_
#define GPUOS_DAEMON_EXECUTOR_WORKER_MEMORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "daemon/device/device.h"
#include "kernels/abi/queue.h"

namespace gpuos::executor {

struct WorkerMemorySizes {
  // Items of the worker's ready queue: a power of two, at most 2^24.
  std::uint32_t ready_capacity = 1u << 18;
  std::uint64_t program_bytes = std::uint64_t{192} << 20;
  // States of running batches; at least what the largest program needs.
  std::uint64_t state_bytes = std::uint64_t{32} << 20;
};

// Plain addresses; all of it belongs to the device and ends with it.
struct WorkerMemory {
  device::DeviceAddress state = 0;  // abi::WorkerState, ready for the first launch.
  abi::QueuePage* queue = nullptr;  // Zeroed.
  // abi::kMaxSlots addresses for each of abi::kWindow windows.
  device::SharedBytes bindings;
  device::DeviceAddress programs = 0;
  device::DeviceAddress states = 0;
  WorkerMemorySizes sizes;
};

// Allocates everything and writes the worker's first state. INVALID_ARGUMENT for sizes that break
// their limits; errors of the device as they are. Blocks for the copy.
absl::StatusOr<WorkerMemory> AllocateWorkerMemory(device::Device& device,
                                                  const WorkerMemorySizes& sizes);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_WORKER_MEMORY_H_
