// Time as the executor's parts see it: handed in, never read by them, so that tests choose it.
#ifndef GPUOS_DAEMON_EXECUTOR_CLOCK_H_
#define GPUOS_DAEMON_EXECUTOR_CLOCK_H_

#include <chrono>

namespace gpuos::executor {

// Never goes back. The executor's loop takes it from std::chrono::steady_clock.
using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_CLOCK_H_
