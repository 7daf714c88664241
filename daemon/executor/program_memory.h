// Programs on the device: their bytes in an arena, and what the executor knows about them.
#ifndef GPUOS_DAEMON_EXECUTOR_PROGRAM_MEMORY_H_
#define GPUOS_DAEMON_EXECUTOR_PROGRAM_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/device/device.h"
#include "daemon/executor/arena.h"
#include "daemon/program/program_image.h"

namespace gpuos::executor {

// A program that lies on the device. Immutable.
struct LoadedProgram {
  device::DeviceAddress address = 0;
  std::vector<program::SlotUse> slots;
  std::uint32_t tasks = 0;
  std::uint32_t edges = 0;
  std::uint32_t ready_items = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;  // (operator, calls).
  std::uint64_t state_bytes = 0;                               // Of a batch that runs it.
};

// Owner of the arena. Thread-compatible. Must outlive every program that it loaded: a program's
// bytes are free again when its last shared_ptr goes, which therefore nobody may let go while a
// batch of it runs.
class ProgramMemory {
 public:
  ProgramMemory(device::Memory& memory, device::DeviceAddress base, std::uint64_t bytes)
      : memory_(memory), arena_(base, bytes) {}
  ProgramMemory(const ProgramMemory&) = delete;
  ProgramMemory& operator=(const ProgramMemory&) = delete;

  // Copies a checked program to the device; blocks for the copy. RESOURCE_EXHAUSTED says how much
  // is asked and free; nothing has changed then.
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> Load(const program::Image& image);

  const Arena& arena() const { return arena_; }

 private:
  device::Memory& memory_;
  Arena arena_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_PROGRAM_MEMORY_H_
