#include "daemon/control/admin_service.h"

#include <unistd.h>

#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "daemon/control/device_reports.h"
#include "daemon/control/process_counts.h"
#include "daemon/control/session.h"
#include "daemon/control/unary_call.h"
#include "version.h"

namespace gpuos::control {

grpc::ServerUnaryReactor* AdminService::GetStatus(grpc::CallbackServerContext* /*context*/,
                                                  const v1::GetStatusRequest* /*request*/,
                                                  v1::GetStatusResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::GetStatusResponse>>& call) {
    GatherReports(*parts_.devices, parts_.later, [this, call](std::vector<DeviceReport> reports) {
      v1::GetStatusResponse answer;
      answer.set_version(kVersion);
      answer.set_pid(getpid());
      answer.set_uptime_seconds(absl::ToDoubleSeconds(absl::Now() - parts_.started));
      answer.set_socket_path(parts_.socket_path);
      answer.set_sessions(static_cast<std::uint32_t>(parts_.sessions->count()));
      for (DeviceReport& report : reports) *answer.add_devices() = std::move(report.status);
      answer.set_open_descriptors(CountDescriptors());
      answer.set_threads(CountThreads());
      call->Finish(std::move(answer));
    });
  });
}

grpc::ServerUnaryReactor* AdminService::ListDevices(grpc::CallbackServerContext* /*context*/,
                                                    const v1::ListDevicesRequest* /*request*/,
                                                    v1::ListDevicesResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::ListDevicesResponse>>& call) {
    GatherReports(*parts_.devices, parts_.later, [call](std::vector<DeviceReport> reports) {
      v1::ListDevicesResponse answer;
      for (DeviceReport& report : reports) *answer.add_devices() = std::move(report.status);
      call->Finish(std::move(answer));
    });
  });
}

grpc::ServerUnaryReactor* AdminService::ListClients(grpc::CallbackServerContext* /*context*/,
                                                    const v1::ListClientsRequest* /*request*/,
                                                    v1::ListClientsResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::ListClientsResponse>>& call) {
    v1::ListClientsResponse answer;
    for (const std::shared_ptr<Session>& session : parts_.sessions->all()) {
      if (session->opened()) *answer.add_clients() = session->Describe();
    }
    call->Finish(std::move(answer));
  });
}

}  // namespace gpuos::control
