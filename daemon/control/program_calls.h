// Making and forgetting a session's programs.
#ifndef GPUOS_DAEMON_CONTROL_PROGRAM_CALLS_H_
#define GPUOS_DAEMON_CONTROL_PROGRAM_CALLS_H_

#include <cstdint>
#include <memory>

#include "daemon/control/id_source.h"
#include "daemon/control/reply.h"
#include "daemon/control/session.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::control {

// Each answers once, as control.proto says; errors of the executor are passed on. A program whose
// callers have all gone is dropped again. Thread-safe, does not block. REQUIRES: `session` is
// attached.

void CreateProgram(std::shared_ptr<Session> session, IdSource* ids, const v1::Program& program,
                   Reply<v1::CreateProgramResponse> reply);

void ReleaseProgram(std::shared_ptr<Session> session, std::uint64_t program,
                    Reply<v1::ReleaseProgramResponse> reply);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_PROGRAM_CALLS_H_
