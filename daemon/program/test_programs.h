// Operators and programs that this room's tests are made of.
#ifndef GPUOS_DAEMON_PROGRAM_TEST_PROGRAMS_H_
#define GPUOS_DAEMON_PROGRAM_TEST_PROGRAMS_H_

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "gpuos/v1/types.pb.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

// A catalog that does not depend on the built-in operators:
//   nop()                             use(a)
//   set(out)                          copy(out, a), element by element
//   mix(out, a, b)                    count(flags), atomic
//   gather(out, flags, a)             scale(out, a) with alpha = 1.5, steps = 3, exact = true
// All but copy and scale take views of any shape.
const std::vector<ops::Signature>& TestCatalog();

// A view for an operand.
v1::View MakeView(std::uint32_t slot, std::uint64_t offset,
                  std::initializer_list<std::int64_t> sizes,
                  std::initializer_list<std::int64_t> strides, v1::DType dtype = v1::DTYPE_F32);

// `count` elements of 4 bytes from element `first` of a slot on.
v1::View Elements(std::uint32_t slot, std::uint64_t first, std::int64_t count);

// Appends a slot and a task.
void AddSlot(std::uint64_t length, v1::Program& program);
v1::Task& AddTask(const std::string& op, std::initializer_list<v1::View> operands,
                  v1::Program& program);

// A program of up to `max_tasks` tasks over a few small slots, whose views overlap in every manner;
// it is accepted by BuildImage over TestCatalog(). With `after`, tasks also name earlier ones.
v1::Program RandomProgram(std::mt19937_64& random, int max_tasks, bool after);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_TEST_PROGRAMS_H_
