#include "daemon/executor/worker_memory.h"

#include <cstddef>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kernels/abi/limits.h"
#include "kernels/abi/worker_state.h"

namespace gpuos::executor {
namespace {

constexpr std::uint32_t kMaxReadyCapacity = 1u << 24;

absl::Status CheckSizes(const WorkerMemorySizes& sizes) {
  const std::uint32_t ready = sizes.ready_capacity;
  if (ready == 0 || (ready & (ready - 1)) != 0 || ready > kMaxReadyCapacity) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ready_capacity is ", ready, "; it must be a power of two, at most ", kMaxReadyCapacity));
  }
  const std::uint64_t least = abi::BatchStateBytes(abi::kMaxSlots, abi::kMaxTasks);
  if (sizes.state_bytes < least) {
    return absl::InvalidArgumentError(
        absl::StrCat("state_bytes is ", sizes.state_bytes, "; the largest batch needs ", least));
  }
  return absl::OkStatus();
}

absl::Status AllocateAll(device::Device& device, WorkerMemory& memory,
                         device::DeviceAddress& ready) {
  const struct {
    device::DeviceAddress* to;
    std::uint64_t bytes;
  } wanted[] = {
      {&memory.state, sizeof(abi::WorkerState)},
      {&ready, std::uint64_t{memory.sizes.ready_capacity} * sizeof(abi::ReadyItem)},
      {&memory.programs, memory.sizes.program_bytes},
      {&memory.states, memory.sizes.state_bytes},
  };
  for (const auto& [to, bytes] : wanted) {
    absl::StatusOr<device::DeviceAddress> address = device.memory().Allocate(bytes);
    if (!address.ok()) return std::move(address).status();
    *to = *address;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WorkerMemory> AllocateWorkerMemory(device::Device& device,
                                                  const WorkerMemorySizes& sizes) {
  if (absl::Status ok = CheckSizes(sizes); !ok.ok()) return ok;
  WorkerMemory memory;
  memory.sizes = sizes;
  device::DeviceAddress ready = 0;
  if (absl::Status ok = AllocateAll(device, memory, ready); !ok.ok()) return ok;

  absl::StatusOr<device::SharedBytes> page = device.AllocateShared(sizeof(abi::QueuePage));
  if (!page.ok()) return std::move(page).status();
  memory.queue = new (page->host) abi::QueuePage{};
  absl::StatusOr<device::SharedBytes> bindings = device.AllocateShared(
      std::size_t{abi::kWindow} * abi::kMaxSlots * sizeof(abi::DeviceAddress));
  if (!bindings.ok()) return std::move(bindings).status();
  memory.bindings = *bindings;

  abi::WorkerState state{};
  state.queue = page->device;
  state.ready = ready;
  state.ready_capacity = sizes.ready_capacity;
  const absl::Status written = device.memory().Write(
      memory.state, absl::MakeConstSpan(reinterpret_cast<const std::byte*>(&state), sizeof(state)));
  if (!written.ok()) return written;
  return memory;
}

}  // namespace gpuos::executor
