// From a client's description of a program to the bytes that the worker runs: checks, dependencies,
// layout. Pure functions, no I/O.
#ifndef GPUOS_DAEMON_PROGRAM_PROGRAM_IMAGE_H_
#define GPUOS_DAEMON_PROGRAM_PROGRAM_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gpuos/v1/types.pb.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

struct Limits {
  std::uint32_t runner_blocks = 1;   // Of the device: the widest that a task is offered.
  std::uint32_t ready_capacity = 1;  // Ready items that one program may need at most.
};

// What one slot of a program is used for.
struct SlotUse {
  std::uint64_t length = 0;  // Bytes that a binding must offer.
  bool read = false;
  bool written = false;
};

// A checked program. Immutable after BuildImage; copyable.
struct Image {
  std::vector<std::byte> bytes;  // abi::Program and its parts; position-independent.
  std::vector<SlotUse> slots;
  std::uint32_t tasks = 0;
  std::uint32_t edges = 0;
  std::uint32_t ready_items = 0;
  // Calls of each operator, by index into the catalog; pairs (operator, calls), sorted.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;
};

// Checks `program` against `catalog` (operators by table index) and lays it out. Every refusal is
// INVALID_ARGUMENT (NOT_FOUND for an unknown operator) with a sentence that names the field as the
// proto does, e.g. "tasks[3].operands[1].strides[0] is -4; strides must be 0 or more". Views that
// leave their slot, sizes x strides beyond 64 bits, unknown dtypes, wrong operand counts, unknown
// attributes, cycles (the sentence lists the tasks of one) and every limit of types.proto are among
// them.
absl::StatusOr<Image> BuildImage(const v1::Program& program,
                                 absl::Span<const ops::Signature> catalog, const Limits& limits);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_PROGRAM_IMAGE_H_
