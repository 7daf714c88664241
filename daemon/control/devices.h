// The devices that the daemon serves.
#ifndef GPUOS_DAEMON_CONTROL_DEVICES_H_
#define GPUOS_DAEMON_CONTROL_DEVICES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/control/executor_supervisor.h"

namespace gpuos::control {

// In the order in which clients see them; the first is the default. Never empty. Owns the
// supervisors. Thread-safe once made.
class Devices {
 public:
  explicit Devices(std::vector<std::unique_ptr<ExecutorSupervisor>> supervisors)
      : supervisors_(std::move(supervisors)) {}

  // By DeviceInfo.name; empty is the first. NOT_FOUND names those there are.
  absl::StatusOr<ExecutorSupervisor*> Find(const std::string& name) const;

  const std::vector<std::unique_ptr<ExecutorSupervisor>>& all() const { return supervisors_; }

  // OK when every device is READY; otherwise why one is not.
  absl::Status CheckReady() const;

  void Start();
  // Of every supervisor.
  void Drain();
  void KillNow();
  // Stops all at once; blocks for the slowest.
  void Stop();

 private:
  const std::vector<std::unique_ptr<ExecutorSupervisor>> supervisors_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_DEVICES_H_
