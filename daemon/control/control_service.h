// The gRPC service that clients use.
#ifndef GPUOS_DAEMON_CONTROL_CONTROL_SERVICE_H_
#define GPUOS_DAEMON_CONTROL_CONTROL_SERVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/control/devices.h"
#include "daemon/control/id_source.h"
#include "daemon/control/peer_table.h"
#include "daemon/control/session.h"
#include "daemon/control/session_life.h"
#include "daemon/control/sessions.h"
#include "gpuos/v1/control.grpc.pb.h"

namespace gpuos::control {

// Translates: finds out who calls, finds the session, starts the operation, passes its answer on.
// No call holds a thread while it waits.
//
// Every call of a session is refused with NOT_FOUND if there is no such session (any more),
// UNAUTHENTICATED with another token, PERMISSION_DENIED from another user, and, but for
// CloseSession, FAILED_PRECONDITION until it is attached.
//
// Ownership: all that it is given outlives it and the server. Thread-safe.
class ControlService final : public v1::Control::CallbackService {
 public:
  struct Parts {
    const PeerTable* peers = nullptr;
    const Devices* devices = nullptr;
    Sessions* sessions = nullptr;
    SessionLife* life = nullptr;
    std::string attach_path;
  };

  explicit ControlService(Parts parts) : parts_(std::move(parts)) {}

  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                    const v1::GetInfoRequest* request,
                                    v1::GetInfoResponse* response) override;
  grpc::ServerUnaryReactor* OpenSession(grpc::CallbackServerContext* context,
                                        const v1::OpenSessionRequest* request,
                                        v1::OpenSessionResponse* response) override;
  grpc::ServerUnaryReactor* CloseSession(grpc::CallbackServerContext* context,
                                         const v1::CloseSessionRequest* request,
                                         v1::CloseSessionResponse* response) override;
  grpc::ServerUnaryReactor* CreateSegment(grpc::CallbackServerContext* context,
                                          const v1::CreateSegmentRequest* request,
                                          v1::CreateSegmentResponse* response) override;
  grpc::ServerUnaryReactor* RegisterSegment(grpc::CallbackServerContext* context,
                                            const v1::RegisterSegmentRequest* request,
                                            v1::RegisterSegmentResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseSegment(grpc::CallbackServerContext* context,
                                           const v1::ReleaseSegmentRequest* request,
                                           v1::ReleaseSegmentResponse* response) override;
  grpc::ServerUnaryReactor* CreateProgram(grpc::CallbackServerContext* context,
                                          const v1::CreateProgramRequest* request,
                                          v1::CreateProgramResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseProgram(grpc::CallbackServerContext* context,
                                           const v1::ReleaseProgramRequest* request,
                                           v1::ReleaseProgramResponse* response) override;
  grpc::ServerUnaryReactor* SubmitBatch(grpc::CallbackServerContext* context,
                                        const v1::SubmitBatchRequest* request,
                                        v1::SubmitBatchResponse* response) override;
  grpc::ServerUnaryReactor* WaitBatch(grpc::CallbackServerContext* context,
                                      const v1::WaitBatchRequest* request,
                                      v1::WaitBatchResponse* response) override;

 private:
  absl::StatusOr<std::shared_ptr<Session>> Find(const grpc::CallbackServerContext& context,
                                                const v1::SessionHandle& handle) const;
  absl::StatusOr<std::shared_ptr<Session>> FindAttached(const grpc::CallbackServerContext& context,
                                                        const v1::SessionHandle& handle) const;
  absl::StatusOr<v1::OpenSessionResponse> Describe(const Session& session) const;

  // Answers with the error if the session is not found, else does `work` with it.
  template <typename Response, typename Work>
  grpc::ServerUnaryReactor* ServeSession(const grpc::CallbackServerContext& context,
                                         const v1::SessionHandle& handle, Response* response,
                                         Work work);

  const Parts parts_;
  // Segments and programs share the numbers.
  IdSource ids_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_CONTROL_SERVICE_H_
