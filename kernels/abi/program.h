// A program as it lies on the device: one immutable, position-independent block of bytes.
//
//   Program | Task[task_count] | View[view_count] | uint32 successors[] | uint32 roots[]
//
// Offsets in Program are bytes from its own start, each part aligned to 16. Little endian. Made by
// daemon/program from a checked request; read by the worker, which trusts it.
#ifndef GPUOS_KERNELS_ABI_PROGRAM_H_
#define GPUOS_KERNELS_ABI_PROGRAM_H_

#include <cstddef>
#include <cstdint>

#include "kernels/abi/dtype.h"
#include "kernels/abi/limits.h"

namespace gpuos::abi {

// An operand. Element [i...] lies at binding[slot] + offset + sum(i * strides) * SizeOf(dtype).
// Operators that work element by element get all their views broadcast to one shape and coalesced
// (adjacent dimensions merged where every operand allows it); others get them as the client gave.
struct View {
  std::uint32_t slot;
  DType dtype;
  std::uint8_t dims;
  std::uint8_t contiguous;  // 1: element i lies at i * SizeOf(dtype), rows major.
  std::uint8_t reserved;
  std::uint64_t offset;            // Bytes.
  std::int64_t elements;           // Product of sizes.
  std::int64_t sizes[kMaxDims];    // Outermost first; unused ones are 1.
  std::int64_t strides[kMaxDims];  // Elements; unused ones are 0.
};
static_assert(sizeof(View) == 152);
static_assert(offsetof(View, offset) == 8 && offsetof(View, sizes) == 24);

// An attribute's value; the operator's signature says which member is meant.
union Scalar {
  std::int64_t i;
  double f;
};
static_assert(sizeof(Scalar) == 8);

struct Task {
  std::uint32_t op;          // Index into the batch's table.
  std::uint32_t first_view;  // Outputs first, then inputs.
  std::uint16_t view_count;
  std::uint16_t attribute_count;
  std::uint32_t tiles;         // >= 1; each may run on a block of its own.
  std::uint64_t tile_size;     // In units that the operator's plan chose: elements or rows.
  std::uint32_t predecessors;  // Tasks that must finish first.
  std::uint32_t first_successor;
  std::uint32_t successor_count;
  std::uint32_t reserved0;
  Scalar attributes[kMaxAttributes];  // In the order of the signature.
  std::uint64_t reserved1[3];
};
static_assert(sizeof(Task) == 128);
static_assert(offsetof(Task, tile_size) == 16 && offsetof(Task, attributes) == 40);

struct Program {
  std::uint32_t task_count;
  std::uint32_t view_count;
  std::uint32_t successor_count;
  std::uint32_t root_count;  // Tasks without predecessors.
  std::uint32_t slot_count;
  // A task is offered to at most this many blocks at once; keeps the sum over all tasks, which is
  // ready_items, within what the ready queue holds.
  std::uint32_t width;
  std::uint32_t ready_items;
  std::uint32_t reserved;
  std::uint64_t tasks;  // Offsets.
  std::uint64_t views;
  std::uint64_t successors;
  std::uint64_t roots;
};
static_assert(sizeof(Program) == 64);

}  // namespace gpuos::abi

#endif  // GPUOS_KERNELS_ABI_PROGRAM_H_
