// Starting child processes, the only way that gpuosd does it.
#ifndef GPUOS_DAEMON_CONTROL_SPAWN_H_
#define GPUOS_DAEMON_CONTROL_SPAWN_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gpuos::control {

struct SpawnRequest {
  std::string program;                 // A path; PATH is not searched.
  std::vector<std::string> arguments;  // Without argv[0].
  // These descriptors of ours become those of the child; -1 leaves what there is. They stay ours.
  int standard_output = -1;
  int descriptor3 = -1;
};

// posix_spawn (never fork: other threads may hold locks). The child has our environment and
// standard streams, descriptor 3 if asked for, no other; no signal blocked or ignored; a process
// group of its own. Returns its pid, which the caller reaps. On failure, a sentence with the path.
absl::StatusOr<pid_t> Spawn(const SpawnRequest& request);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SPAWN_H_
