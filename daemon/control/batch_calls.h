// Submitting a session's batches.
#ifndef GPUOS_DAEMON_CONTROL_BATCH_CALLS_H_
#define GPUOS_DAEMON_CONTROL_BATCH_CALLS_H_

#include <memory>

#include "daemon/control/reply.h"
#include "daemon/control/session.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::control {

// Sends the batch to the executor and answers as control.proto says: at once, or when it is done if
// `request.wait`. A batch that was sent runs also if its caller goes; a failure that its caller
// does not take is kept for WaitBatch. Thread-safe, does not block. REQUIRES: `session` is
// attached.
void SubmitBatch(std::shared_ptr<Session> session, const v1::SubmitBatchRequest& request,
                 Reply<v1::SubmitBatchResponse> reply);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_BATCH_CALLS_H_
