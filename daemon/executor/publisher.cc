#include "daemon/executor/publisher.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace gpuos::executor {

Publisher::Publisher(const WorkerMemory& memory, abi::DeviceAddress table)
    : queue_(*memory.queue),
      bindings_(memory.bindings),
      table_(table),
      states_(memory.states, memory.sizes.state_bytes),
      ready_free_(memory.sizes.ready_capacity) {
  for (std::uint32_t window = abi::kWindow; window > 0; --window) {
    idle_windows_.push_back(window - 1);
  }
}

void Publisher::Publish(Batch& batch) {
  const LoadedProgram& program = *batch.program;
  const Running running{.batch = &batch,
                        .window = idle_windows_.back(),
                        .ready_items = program.ready_items,
                        .state = states_.Allocate(program.state_bytes).value()};
  idle_windows_.pop_back();
  ready_free_ -= running.ready_items;
  running_.push_back(running);
  queue_.Publish(abi::QueueEntry{.kind = abi::EntryKind::kBatch,
                                 .window = running.window,
                                 .id = next_id_++,
                                 .program = program.address,
                                 .state = running.state,
                                 .table = table_,
                                 .bindings = WriteBindings(running.window, batch),
                                 .reserved = {}});
}

abi::DeviceAddress Publisher::WriteBindings(std::uint32_t window, const Batch& batch) {
  const std::size_t offset = std::size_t{window} * abi::kMaxSlots * sizeof(abi::DeviceAddress);
  const std::vector<abi::DeviceAddress>& addresses = batch.checked.addresses();
  std::copy(addresses.begin(), addresses.end(),
            reinterpret_cast<abi::DeviceAddress*>(bindings_.host + offset));
  return bindings_.device + offset;
}

std::vector<CompletedBatch> Publisher::TakeCompleted() {
  std::vector<CompletedBatch> completed;
  const auto is_done = [&](const Running& running) {
    const std::optional<device::CompletionView> completion = queue_.TakeCompletion(running.window);
    if (!completion) return false;
    idle_windows_.push_back(running.window);
    ready_free_ += running.ready_items;
    states_.Free(running.state);
    completed.push_back({.batch = running.batch, .completion = *completion});
    return true;
  };
  running_.erase(std::remove_if(running_.begin(), running_.end(), is_done), running_.end());
  completed_ += completed.size();
  return completed;
}

}  // namespace gpuos::executor
