// How gpuos-executor ends.
#ifndef GPUOS_DAEMON_EXECUTOR_EXIT_CODES_H_
#define GPUOS_DAEMON_EXECUTOR_EXIT_CODES_H_

namespace gpuos::executor {

inline constexpr int kExitOk = 0;      // Stopped, or the link has closed; the worker was parked.
inline constexpr int kExitFailed = 1;  // The device could not be taken, or the link spoke nonsense.
inline constexpr int kExitUsage = 64;
inline constexpr int kExitDeviceLost = 70;  // The worker faulted or hung; see the Goodbye.

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_EXIT_CODES_H_
