// The one header that an operator's source includes. The same text is compiled for the GPU (C++17)
// and for host devices (C++20).
//
// An operator is a function that computes one tile of one task:
//
//   #include "gpuos/operator.h"
//
//   // out = a * b + a
//   GPUOS_OPERATOR(mul_add) {
//     gpuos::Map<float, float, float>(call, [](float a, float b) { return a * b + a; });
//   }
//
// `call` (gpuos/call.h) says which: views of the operands, outputs first, with the addresses that
// this submission binds; the attributes; the tile's number. All threads of a block run the function
// together. What there is to work with:
//
//   gpuos/element.h  float, std::int64_t and bool as element types; Convert; ForNumber, ForDType
//   gpuos/tensor.h   Tensor<T>(call, operand): Load, Store by linear index, rows; Load, Store,
//   LoadAs gpuos/tile.h     ForEachElement, ForEachRow: the tile's share, divided among threads
//   gpuos/map.h      Map: a function of numbers applied to whole tensors
//   gpuos/team.h     Team::Reduce, BlockReduce: one value out of every thread's
//   gpuos/block.h    ThreadIndex, ThreadCount, SyncBlock
//   gpuos/atomic.h   DeviceWord, SystemWord
//
// Rules. The worker runs operators without looking at them, so they are not optional:
//   - Write the elements of your outputs that belong to your tile, all of them, and nothing else.
//   - Tiles run in any order, on any number of blocks at once, and on one block one after another:
//     a tile's result must not depend on another's.
//   - An output may be one of the inputs (same view) in elementwise operators: load an element's
//     inputs before storing its output, and no other element's after it.
//   - Call SyncBlock() and BlockReduce() from all threads of the block or from none.
//   - Shared memory is call.scratch, kFreeScratchBytes of it; its contents do not outlive the call.
//     No static or global variables, no recursion, no printf, no allocation.
//   - Every loop ends: a wait for another task needs a limit. Report trouble with Fail().
//   - At most 64 registers and no local arrays with computed indices (they would need a stack).
#ifndef GPUOS_OPERATOR_H_
#define GPUOS_OPERATOR_H_

#include <cmath>
#include <cstdint>

#include "gpuos/atomic.h"
#include "gpuos/block.h"
#include "gpuos/call.h"
#include "gpuos/element.h"
#include "gpuos/map.h"
#include "gpuos/team.h"
#include "gpuos/tensor.h"
#include "gpuos/tile.h"

// Begins the definition of an operator's function; `call` is its argument. `id` is the operator's
// name with '_' for what C does not allow ("test.spin" is test_spin).
#ifndef GPUOS_OPERATOR
#define GPUOS_OPERATOR(id) extern "C" GPUOS_DEVICE void gpuos_op_##id(const gpuos::Call& call)
#endif

namespace gpuos {

// Attribute number `index` of the operator's signature, which says its kind.
GPUOS_INLINE std::int64_t IntAttribute(const Call& call, std::uint32_t index) {
  return call.attributes[index].i;
}
GPUOS_INLINE double FloatAttribute(const Call& call, std::uint32_t index) {
  return call.attributes[index].f;
}
GPUOS_INLINE bool BoolAttribute(const Call& call, std::uint32_t index) {
  return call.attributes[index].i != 0;
}

// Makes the batch end with BatchCode::kOperatorFailed and `code`, which must not be 0, unless
// another task was first. The batch runs to its end all the same. Any thread, any number of them.
GPUOS_INLINE void Fail(const Call& call, std::uint32_t code) {
  std::uint64_t none = 0;
  const std::uint64_t error = (std::uint64_t{code} << 32) | call.task;
  // Relaxed: the batch's end orders it for the reader.
  DeviceWord<std::uint64_t>(call.batch->error)
      .compare_exchange_strong(none, error, memory_order_relaxed, memory_order_relaxed);
}

}  // namespace gpuos

#endif  // GPUOS_OPERATOR_H_
