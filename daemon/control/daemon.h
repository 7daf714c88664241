// The whole daemon but its flags and signals.
#ifndef GPUOS_DAEMON_CONTROL_DAEMON_H_
#define GPUOS_DAEMON_CONTROL_DAEMON_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "daemon/control/admin_service.h"
#include "daemon/control/attach_server.h"
#include "daemon/control/control_service.h"
#include "daemon/control/devices.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/grpc_acceptor.h"
#include "daemon/control/later.h"
#include "daemon/control/notify.h"
#include "daemon/control/operators_service.h"
#include "daemon/control/peer_table.h"
#include "daemon/control/readiness.h"
#include "daemon/control/session_life.h"
#include "daemon/control/sessions.h"
#include "daemon/control/sockets.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/control.pb.h"
#include "grpcpp/server.h"

namespace gpuos::control {

// Wires the parts: sockets, event loop, sessions, one supervisor a device, gRPC.
//
// Ownership: owns all of it. Thread-safe. Start and Stop block; the destructor stops.
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

  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  // Where it listens (systemd may have chosen).
  const std::string& socket_path() const { return sockets_.grpc.path(); }

  // Takes no new connections and requests, lets running batches finish within drain_timeout, parks
  // the workers and ends the executors, answers what is left, removes the sockets. Once.
  void Stop();
  // Makes a Stop that runs, or is to come, skip the waiting.
  void Hurry();

 private:
  Daemon(Options options, Sockets sockets, std::unique_ptr<EventLoop> loop);

  absl::Status Run();
  std::unique_ptr<Devices> MakeDevices();
  absl::Status StartServer();
  absl::Status StartSockets();
  void SendWatchdog();
  void WaitForBatches();
  // Runs `work` on the loop's thread and waits for it.
  void OnLoop(std::function<void()> work);

  const Options options_;
  Sockets sockets_;
  const std::unique_ptr<EventLoop> loop_;
  const Later later_;
  const Notifier notifier_;
  PeerTable peers_;
  Sessions sessions_;
  SessionLife life_;
  const std::unique_ptr<Devices> devices_;
  ControlService control_;
  OperatorsService operators_;
  AdminService admin_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Readiness> readiness_;
  // On the loop's thread.
  std::unique_ptr<GrpcAcceptor> acceptor_;
  std::unique_ptr<AttachServer> attach_server_;
  std::thread loop_thread_;
  absl::Notification hurry_;
  bool stopped_ = false;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_DAEMON_H_
