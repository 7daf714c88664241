// The gate: what a client asks a program to work on is checked here, and only what passed goes on.
#ifndef GPUOS_DAEMON_EXECUTOR_GATE_H_
#define GPUOS_DAEMON_EXECUTOR_GATE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "daemon/executor/extents.h"
#include "daemon/program/program_image.h"
#include "kernels/abi/queue.h"

namespace gpuos::executor {

// Where a client wants a slot to lie: v1.Binding.
struct Binding {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;  // Bytes.
};

// The segment of that id which the batch's session holds, or nullptr. Other sessions' segments are
// not to be found by it: that is what keeps sessions apart.
using FindSegment = absl::FunctionRef<const device::Segment*(std::uint64_t segment)>;

// Bindings that passed the gate. Everything behind the gate takes this, and only CheckBindings
// makes it. A value; movable and copyable; thread-compatible.
class CheckedBatch {
 public:
  // Address of each slot, in the order of the program's slots.
  const std::vector<abi::DeviceAddress>& addresses() const { return addresses_; }
  const Footprint& footprint() const { return footprint_; }
  // Ids of the segments that the batch names, sorted, each once.
  const std::vector<std::uint64_t>& segments() const { return segments_; }

 private:
  CheckedBatch() = default;
  friend absl::StatusOr<CheckedBatch> CheckBindings(absl::Span<const program::SlotUse> slots,
                                                    absl::Span<const Binding> bindings,
                                                    FindSegment find);

  std::vector<abi::DeviceAddress> addresses_;
  Footprint footprint_;
  std::vector<std::uint64_t> segments_;
};

// Checks one binding a slot: the segment is the session's, the offset is a multiple of
// abi::kBindingAlignment, the slot's length fits behind it, and no two slots overlap of which one
// is written (the program's order of tasks takes slots to be disjoint). INVALID_ARGUMENT, or
// NOT_FOUND for a segment that is not there, with a sentence that names the binding. Pure. n log n
// in slots.
absl::StatusOr<CheckedBatch> CheckBindings(absl::Span<const program::SlotUse> slots,
                                           absl::Span<const Binding> bindings, FindSegment find);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_GATE_H_
