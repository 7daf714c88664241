// Which of the worker's launches have ended, by an event behind each.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_LAUNCH_LOG_H_
#define GPUOS_DAEMON_DEVICE_CUDA_LAUNCH_LOG_H_

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/device/cuda/driver.h"

namespace gpuos::device {

// Owns the events and uses them again. Thread-compatible. Nothing blocks. Driver and context must
// outlive it.
class LaunchLog {
 public:
  explicit LaunchLog(const Driver& driver) : driver_(driver) {}
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;
  ~LaunchLog();

  // Marks the end of the launch that was just put into `stream`.
  absl::Status Record(CUstream stream);

  // Launches recorded so far that have ended. DATA_LOSS: one ended by a fault.
  absl::StatusOr<std::uint64_t> Finished();

  std::uint64_t recorded() const { return finished_ + running_.size(); }

 private:
  absl::StatusOr<CUevent> TakeEvent();

  const Driver& driver_;
  std::deque<CUevent> running_;  // Oldest first: launches end in order.
  std::vector<CUevent> idle_;
  std::uint64_t finished_ = 0;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_LAUNCH_LOG_H_
