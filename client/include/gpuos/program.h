// Programs: lists of small tensor operations, written down once and run many times.
#ifndef GPUOS_PROGRAM_H_
#define GPUOS_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "gpuos/segment.h"

namespace gpuos {

namespace v1 {
class Program;
}  // namespace v1

// Names one program of a session. Given by the daemon, never reused during its life, never 0.
enum class ProgramId : std::uint64_t {};

// What one element of a tensor is; the numbers are gpuos.v1.DType.
enum class DType : std::uint32_t {
  kF32 = 1,   // IEEE binary32, 4 bytes.
  kI64 = 2,   // Two's complement, 8 bytes.
  kBool = 3,  // One byte, 0 or 1.
};

// A strided tensor inside of a slot of a program. A plain value.
struct View {
  // What ProgramBuilder::AddSlot returned.
  std::uint32_t slot = 0;
  DType dtype = DType::kF32;
  // Bytes from the start of the slot to element 0; a multiple of the element's size.
  std::uint64_t offset = 0;
  // Elements in each dimension, outermost first; none is a scalar. At most 8.
  std::vector<std::int64_t> sizes;
  // Elements, not bytes, from one index to the next; one for each size. 0 broadcasts an input.
  std::vector<std::int64_t> strides;

  // A dense tensor in row-major order that starts `offset` bytes into the slot.
  static View Contiguous(std::uint32_t slot, DType dtype, std::vector<std::int64_t> sizes,
                         std::uint64_t offset = 0);
};

// A number or flag given to an operator by value, by the name that its signature gives
// (`gpuosctl ops show NAME`). Attributes that are not given have their defaults.
struct Attribute {
  std::string name;
  std::variant<std::int64_t, double, bool> value;
};

// Where a slot lies in one submission.
struct Binding {
  SegmentId segment{};
  // Bytes from the start of the segment; a multiple of 16.
  std::uint64_t offset = 0;
};

// A program being written down. Slots say how many bytes it works on without saying where they lie;
// tasks are calls of operators on views of slots. Tasks that touch the same bytes of one slot, one
// of them writing, run in the order of the list; others may run at once. Two slots are taken to be
// disjoint: give tensors that share bytes one slot.
//
// Owns what it was given (copies), needs no session, and can be created in any number of sessions.
// One thread at a time. Nothing blocks, nothing fails: the daemon checks the whole program in
// Session::CreateProgram and names the task, the operand and the limit.
class ProgramBuilder {
 public:
  ProgramBuilder();
  ProgramBuilder(ProgramBuilder&&) noexcept;
  ProgramBuilder& operator=(ProgramBuilder&&) noexcept;
  ~ProgramBuilder();

  // A stretch of `length` bytes; returns its index, counted from 0.
  std::uint32_t AddSlot(std::uint64_t length);
  // A call of `op`. Outputs come first in `operands`, then inputs, in the order of the operator's
  // signature. `after` are indices of tasks that must finish first besides those that follow from
  // overlapping operands. Returns the task's index, counted from 0.
  std::uint32_t AddTask(const std::string& op, absl::Span<const View> operands,
                        absl::Span<const Attribute> attributes = {},
                        absl::Span<const std::uint32_t> after = {});

  // What is sent to the daemon (gpuos/v1/types.pb.h). Borrowed, valid until the builder changes.
  const v1::Program& program() const { return *program_; }

 private:
  std::unique_ptr<v1::Program> program_;
};

}  // namespace gpuos

#endif  // GPUOS_PROGRAM_H_
