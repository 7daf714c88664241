// Registering and releasing a session's memory.
#ifndef GPUOS_DAEMON_CONTROL_SEGMENT_CALLS_H_
#define GPUOS_DAEMON_CONTROL_SEGMENT_CALLS_H_

#include <cstdint>
#include <memory>

#include "daemon/control/id_source.h"
#include "daemon/control/reply.h"
#include "daemon/control/session.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::control {

// Each answers once, as control.proto says; errors of the executor are passed on. A segment whose
// caller has gone is released again. Thread-safe, does not block. REQUIRES: `session` is attached.

// Makes a memory file, has it mapped, sends it over the attach connection.
void CreateSegment(std::shared_ptr<Session> session, IdSource* ids, std::uint64_t size,
                   Reply<v1::CreateSegmentResponse> reply);

void RegisterSegment(std::shared_ptr<Session> session, IdSource* ids,
                     const v1::RegisterSegmentRequest& request,
                     Reply<v1::RegisterSegmentResponse> reply);

void ReleaseSegment(std::shared_ptr<Session> session, std::uint64_t segment,
                    Reply<v1::ReleaseSegmentResponse> reply);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SEGMENT_CALLS_H_
