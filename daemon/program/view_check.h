// The door through which a client's view becomes one that the worker may follow.
#ifndef GPUOS_DAEMON_PROGRAM_VIEW_CHECK_H_
#define GPUOS_DAEMON_PROGRAM_VIEW_CHECK_H_

#include "absl/status/statusor.h"
#include "daemon/program/field_path.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "gpuos/v1/types.pb.h"
#include "kernels/abi/program.h"

namespace gpuos::program {

// Checks a view by itself and against the slot that it names. What comes back is well-formed:
//   - the dtype is known, there are at most abi::kMaxDims dimensions, unused ones have size 1 and
//     stride 0;
//   - sizes and strides are 0 or more; the product of the sizes (zeros left out, so that products
//     over a part of them are safe too) fits 63 bits, `elements` is the product of all;
//   - the offset is a multiple of the element's size, and every element lies in the slot. A view
//     without elements touches nothing and may have any such offset.
// `contiguous` is left 0: PlanTask decides it for the shape that the operator sees.
//
// INVALID_ARGUMENT names the field by `path`, its value and the limit. A pure function.
absl::StatusOr<abi::View> CheckView(const v1::View& view,
                                    const google::protobuf::RepeatedPtrField<v1::Slot>& slots,
                                    const OperandPath& path);

// Refuses a stride of 0 over more than one element in a view that a task writes: its elements would
// lie on top of each other. `view` is as CheckView returned it.
absl::Status CheckWritable(const abi::View& view, const OperandPath& path);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_VIEW_CHECK_H_
