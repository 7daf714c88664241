// What this process holds, for leak checks.
#ifndef GPUOS_DAEMON_CONTROL_PROCESS_COUNTS_H_
#define GPUOS_DAEMON_CONTROL_PROCESS_COUNTS_H_

#include <cstdint>

namespace gpuos::control {

// Open descriptors of this process, as /proc lists them, without the one that lists. 0 if it cannot
// be read.
std::uint32_t CountDescriptors();
// Threads of this process.
std::uint32_t CountThreads();

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_PROCESS_COUNTS_H_
