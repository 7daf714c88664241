// Giving a fresh executor what living sessions have.
#ifndef GPUOS_DAEMON_CONTROL_SESSION_RESTORE_H_
#define GPUOS_DAEMON_CONTROL_SESSION_RESTORE_H_

#include <string>

#include "daemon/control/executor_supervisor.h"
#include "daemon/control/sessions.h"

namespace gpuos::control {

// Opens every session of `device` in the executor behind `call`, maps its segments from the kept
// descriptors or handles, and loads its programs from their kept bytes, so that the next batch
// works for a client that does not even notice. What cannot be restored is marked lost, with the
// reason: batches that name it are refused. Blocks for the executor's answers.
void RestoreSessions(const Sessions& sessions, const std::string& device,
                     const ExecutorSupervisor::SyncCall& call);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SESSION_RESTORE_H_
