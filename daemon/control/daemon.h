// The whole daemon but its flags and signals.
#ifndef GPUOS_DAEMON_CONTROL_DAEMON_H_
#define GPUOS_DAEMON_CONTROL_DAEMON_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::control {

// Wires the parts: sockets, event loop, sessions, one supervisor a device, gRPC.
//
// Ownership: owns all of it. Thread-safe. Start and Stop block; the destructor stops, at once.
class Daemon {
 public:
  struct Options {
    std::string socket;
    mode_t socket_mode = 0660;
    std::vector<v1::DeviceInfo> devices;  // At least one.
    v1::Residence residence = v1::RESIDENCE_ELASTIC;
    std::string executor;
    std::vector<std::string> executor_arguments;  // Besides --device and --link-fd.
    // Of the service manager: $NOTIFY_SOCKET, and half of its watchdog's time (zero: none).
    std::string notify_socket;
    absl::Duration watchdog_period;
    // What running batches get when it stops.
    absl::Duration drain_timeout = absl::Seconds(10);
  };

  // Listens, then starts the executors without waiting for them. Errors are those of OpenSockets.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(Options options);

  virtual ~Daemon() = default;

  // Where it listens (systemd may have chosen).
  virtual const std::string& socket_path() const = 0;

  // Takes no new connections and requests, lets running batches finish within drain_timeout, parks
  // the workers and ends the executors, answers what is left, removes the sockets. Once.
  virtual void Stop() = 0;
  // Makes a Stop that runs, or is to come, skip the waiting. Once.
  virtual void Hurry() = 0;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_DAEMON_H_
