// The gRPC service for administrators.
#ifndef GPUOS_DAEMON_CONTROL_ADMIN_SERVICE_H_
#define GPUOS_DAEMON_CONTROL_ADMIN_SERVICE_H_

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "daemon/control/devices.h"
#include "daemon/control/later.h"
#include "daemon/control/sessions.h"
#include "gpuos/v1/admin.grpc.pb.h"

namespace gpuos::control {

// Translates what the parts say; changes nothing, needs no session.
//
// Ownership: all that it is given outlives it and the server. Thread-safe.
class AdminService final : public v1::Admin::CallbackService {
 public:
  struct Parts {
    const Devices* devices = nullptr;
    const Sessions* sessions = nullptr;
    Later later;
    std::string socket_path;
    absl::Time started;
  };

  explicit AdminService(Parts parts) : parts_(std::move(parts)) {}

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* request,
                                        v1::ListDevicesResponse* response) override;
  grpc::ServerUnaryReactor* ListClients(grpc::CallbackServerContext* context,
                                        const v1::ListClientsRequest* request,
                                        v1::ListClientsResponse* response) override;

 private:
  const Parts parts_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_ADMIN_SERVICE_H_
