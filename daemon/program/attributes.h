// A task's attributes, by name in a request, by place on the device.
#ifndef GPUOS_DAEMON_PROGRAM_ATTRIBUTES_H_
#define GPUOS_DAEMON_PROGRAM_ATTRIBUTES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "gpuos/v1/types.pb.h"
#include "kernels/abi/program.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

// Writes attributes and attribute_count of `out`: what `task` gives, the signature's defaults for
// the rest. A whole number is taken for a float attribute, nothing else is converted.
// INVALID_ARGUMENT, naming tasks[index].attributes[i], for names that the operator does not have
// (the sentence lists those it has), names given twice, and values of another kind or missing.
absl::Status FillAttributes(const v1::Task& task, std::uint32_t index,
                            const ops::Signature& signature, abi::Task& out);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_ATTRIBUTES_H_
