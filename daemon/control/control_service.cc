#include "daemon/control/control_service.h"

#include <utility>

#include "absl/status/status.h"
#include "daemon/control/batch_calls.h"
#include "daemon/control/program_calls.h"
#include "daemon/control/reply.h"
#include "daemon/control/segment_calls.h"
#include "daemon/control/unary_call.h"
#include "version.h"

namespace gpuos::control {
namespace {

// An operation's reply that answers the call.
template <typename Response>
Reply<Response> ReplyTo(const std::shared_ptr<UnaryCall<Response>>& call) {
  return [call](absl::StatusOr<Response> answer) { return call->Finish(std::move(answer)); };
}

}  // namespace

absl::StatusOr<std::shared_ptr<Session>> ControlService::Find(
    const grpc::CallbackServerContext& context, const v1::SessionHandle& handle) const {
  absl::StatusOr<PeerCredentials> peer = parts_.peers->Find(context.peer());
  if (!peer.ok()) return peer.status();
  return parts_.sessions->Find(handle.id(), handle.token(), peer->uid);
}

absl::StatusOr<std::shared_ptr<Session>> ControlService::FindAttached(
    const grpc::CallbackServerContext& context, const v1::SessionHandle& handle) const {
  absl::StatusOr<std::shared_ptr<Session>> session = Find(context, handle);
  if (!session.ok()) return session;
  if (absl::Status status = (*session)->CheckAttached(); !status.ok()) return status;
  return session;
}

template <typename Response, typename Work>
grpc::ServerUnaryReactor* ControlService::ServeSession(const grpc::CallbackServerContext& context,
                                                       const v1::SessionHandle& handle,
                                                       Response* response, Work work) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<Response>>& call) {
    absl::StatusOr<std::shared_ptr<Session>> session = FindAttached(context, handle);
    if (!session.ok()) {
      call->Finish(session.status());
    } else {
      work(*std::move(session), call);
    }
  });
}

grpc::ServerUnaryReactor* ControlService::GetInfo(grpc::CallbackServerContext* /*context*/,
                                                  const v1::GetInfoRequest* /*request*/,
                                                  v1::GetInfoResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::GetInfoResponse>>& call) {
    v1::GetInfoResponse info;
    info.set_version(kVersion);
    for (const auto& device : parts_.devices->all()) *info.add_devices() = device->device();
    info.set_attach_path(parts_.attach_path);
    call->Finish(std::move(info));
  });
}

grpc::ServerUnaryReactor* ControlService::OpenSession(grpc::CallbackServerContext* context,
                                                      const v1::OpenSessionRequest* request,
                                                      v1::OpenSessionResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::OpenSessionResponse>>& call) {
    absl::StatusOr<PeerCredentials> peer = parts_.peers->Find(context->peer());
    absl::StatusOr<ExecutorSupervisor*> device = parts_.devices->Find(request->device());
    absl::Status status = !peer.ok() ? peer.status() : device.status();
    if (status.ok()) status = (*device)->CheckReady();
    if (!status.ok()) {
      call->Finish(status);
      return;
    }
    parts_.life->Open(*peer, (*device)->device().name(), request->client_name(), *device,
                      [this, call](const absl::StatusOr<std::shared_ptr<Session>>& session) {
                        if (!session.ok()) return call->Finish(session.status());
                        return call->Finish(Describe(**session));
                      });
  });
}

absl::StatusOr<v1::OpenSessionResponse> ControlService::Describe(const Session& session) const {
  absl::StatusOr<ExecutorSupervisor*> device = parts_.devices->Find(session.identity().device);
  if (!device.ok()) return device.status();
  v1::OpenSessionResponse response;
  response.mutable_session()->set_id(session.id());
  response.mutable_session()->set_token(session.identity().token);
  *response.mutable_device() = (*device)->device();
  return response;
}

grpc::ServerUnaryReactor* ControlService::CloseSession(grpc::CallbackServerContext* context,
                                                       const v1::CloseSessionRequest* request,
                                                       v1::CloseSessionResponse* response) {
  return Serve(response, [&](const std::shared_ptr<UnaryCall<v1::CloseSessionResponse>>& call) {
    absl::StatusOr<std::shared_ptr<Session>> session = Find(*context, request->session());
    if (!session.ok()) {
      call->Finish(session.status());
      return;
    }
    parts_.life->End(*session, "its client closed it",
                     [call] { call->Finish(v1::CloseSessionResponse()); });
  });
}

grpc::ServerUnaryReactor* ControlService::CreateSegment(grpc::CallbackServerContext* context,
                                                        const v1::CreateSegmentRequest* request,
                                                        v1::CreateSegmentResponse* response) {
  return ServeSession(*context, request->session(), response,
                      [&](std::shared_ptr<Session> session, const auto& call) {
                        control::CreateSegment(std::move(session), &ids_, request->size(),
                                               ReplyTo(call));
                      });
}

grpc::ServerUnaryReactor* ControlService::RegisterSegment(grpc::CallbackServerContext* context,
                                                          const v1::RegisterSegmentRequest* request,
                                                          v1::RegisterSegmentResponse* response) {
  return ServeSession(*context, request->session(), response,
                      [&](std::shared_ptr<Session> session, const auto& call) {
                        control::RegisterSegment(std::move(session), &ids_, *request,
                                                 ReplyTo(call));
                      });
}

grpc::ServerUnaryReactor* ControlService::ReleaseSegment(grpc::CallbackServerContext* context,
                                                         const v1::ReleaseSegmentRequest* request,
                                                         v1::ReleaseSegmentResponse* response) {
  return ServeSession(*context, request->session(), response,
                      [&](std::shared_ptr<Session> session, const auto& call) {
                        control::ReleaseSegment(std::move(session), request->segment(),
                                                ReplyTo(call));
                      });
}

grpc::ServerUnaryReactor* ControlService::CreateProgram(grpc::CallbackServerContext* context,
                                                        const v1::CreateProgramRequest* request,
                                                        v1::CreateProgramResponse* response) {
  return ServeSession(*context, request->session(), response,
                      [&](std::shared_ptr<Session> session, const auto& call) {
                        control::CreateProgram(std::move(session), &ids_, request->program(),
                                               ReplyTo(call));
                      });
}

grpc::ServerUnaryReactor* ControlService::ReleaseProgram(grpc::CallbackServerContext* context,
                                                         const v1::ReleaseProgramRequest* request,
                                                         v1::ReleaseProgramResponse* response) {
  return ServeSession(*context, request->session(), response,
                      [&](std::shared_ptr<Session> session, const auto& call) {
                        control::ReleaseProgram(std::move(session), request->program(),
                                                ReplyTo(call));
                      });
}

grpc::ServerUnaryReactor* ControlService::SubmitBatch(grpc::CallbackServerContext* context,
                                                      const v1::SubmitBatchRequest* request,
                                                      v1::SubmitBatchResponse* response) {
  return ServeSession(*context, request->session(), response,
                      [&](std::shared_ptr<Session> session, const auto& call) {
                        control::SubmitBatch(std::move(session), *request, ReplyTo(call));
                      });
}

grpc::ServerUnaryReactor* ControlService::WaitBatch(grpc::CallbackServerContext* context,
                                                    const v1::WaitBatchRequest* request,
                                                    v1::WaitBatchResponse* response) {
  return ServeSession(
      *context, request->session(), response,
      [&](const std::shared_ptr<Session>& session, const auto& call) {
        absl::StatusOr<BatchLedger::WaitId> wait =
            session->batches().Wait(request->value(), [call](const absl::Status& result) {
              if (result.ok()) {
                call->Finish(v1::WaitBatchResponse());
              } else {
                call->Finish(result);
              }
            });
        if (!wait.ok()) {
          call->Finish(wait.status());
        } else {
          call->OnCancel([session, id = *wait] { session->batches().CancelWait(id); });
        }
      });
}

}  // namespace gpuos::control
