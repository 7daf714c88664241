// What the host knows about an operator: operands, attributes, how shapes follow, how it is tiled.
// Plain data and pure functions; no device code here.
#ifndef GPUOS_KERNELS_OPS_SIGNATURE_H_
#define GPUOS_KERNELS_OPS_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/abi/program.h"

namespace gpuos::ops {

// How an operand is used; says which tasks must run in order.
enum class Access {
  kRead,
  kWrite,  // Written without being read, all elements of it.
  // Read and written by atomic operations only: tasks that touch the same bytes only in this way
  // are not ordered among themselves.
  kAtomic,
};

struct Operand {
  std::string name;
  Access access = Access::kRead;
  std::vector<abi::DType> dtypes;  // Accepted.
};

enum class AttributeKind { kInt, kFloat, kBool };

struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::kFloat;
  abi::Scalar default_value{};  // .f for kFloat, else .i (0 or 1 for kBool).
};

// How output shapes follow from the inputs', and in what unit a task is tiled.
enum class ShapeRule {
  kElementwise,    // Inputs broadcast together to the output's shape; tiles of elements.
  kReduceLast,     // Output has the input's shape without its last dimension; tiles of rows.
  kRowwise,        // Output has the input's shape; each row (last dimension) alone; tiles of rows.
  kMatmul,         // (m,k) x (k,n) -> (m,n), 2-d each; tiles of output elements.
  kUnconstrained,  // Any views; one tile (test operators).
};

// How the operands' dtypes hang together, beyond what each accepts.
enum class DTypeRule {
  kSame,        // All operands that accept more than one dtype have the same.
  kFree,        // Any combination.
  kAccumulate,  // The output is I64 for integers and bool, else it has the input's dtype.
};

struct Signature {
  std::string name;
  std::string summary;                // One sentence.
  std::vector<Operand> operands;      // Outputs (kWrite, kAtomic) first, then inputs.
  std::vector<Attribute> attributes;  // At most abi::kMaxAttributes.
  ShapeRule rule = ShapeRule::kElementwise;
  DTypeRule dtypes = DTypeRule::kSame;
  bool needs_columns = false;  // Refuses an empty last dimension: nothing has no maximum.

  std::uint32_t outputs() const;
};

// In words, for `gpuosctl ops show`.
std::string Describe(ShapeRule rule);

// How a task is cut, and its views as the operator wants them.
struct Plan {
  std::uint32_t tiles = 1;  // >= 1, also for zero elements.
  std::uint64_t tile_size = 0;
};

// Checks the operands' dtypes and shapes against the signature, rewrites `views` to what the
// operator is called with (elementwise: inputs broadcast to the output's shape, dimensions in the
// order of the output's strides, neighbours merged where every operand allows it; sets
// View::contiguous for all), and cuts the task. `views` are well-formed each by itself (dtype
// known, dims <= 8, sizes and strides >= 0, elements computed, inside their slots).
// INVALID_ARGUMENT with a sentence that names the operand and its shape, such as "operand 1 (a) has
// shape [3, 4], which does not broadcast to the output's [2, 4]". Refused too: an output in which
// elements share bytes; an output that shares bytes with another operand, unless the operator is
// elementwise and the operand is an input with the very same view.
absl::StatusOr<Plan> PlanTask(const Signature& signature, absl::Span<abi::View> views);

// The operators of the worker's image, in the order of its table. Index 0 is "nop". Built once,
// never destroyed. Thread-safe.
const std::vector<Signature>& Builtins();

}  // namespace gpuos::ops

#endif  // GPUOS_KERNELS_OPS_SIGNATURE_H_
