// What to tell a client whose batch ended with an operator's failure.
#ifndef GPUOS_DAEMON_EXECUTOR_OPERATOR_FAILURE_H_
#define GPUOS_DAEMON_EXECUTOR_OPERATOR_FAILURE_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "daemon/device/queue_writer.h"
#include "kernels/ops/signature.h"

namespace gpuos::executor {

// OK for a batch that did not fail, else INTERNAL with a sentence that names task and operator,
// such as "tasks[3] (gather) failed with code 2". `program` is the address of the program that the
// batch ran; the task is read from there, so it must still lie on the device. May block for the
// copy.
absl::Status ResultOf(const device::CompletionView& completion, device::DeviceAddress program,
                      device::Memory& memory, absl::Span<const ops::Signature> catalog);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_OPERATOR_FAILURE_H_
