#include "client/testing/fake_services.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace gpuos::testing {
namespace {

using internal::UniqueFd;

constexpr std::uint64_t kPage = 4096;

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

UniqueFd MakeMemoryFile(std::uint64_t size) {
  UniqueFd file(::memfd_create("gpuos-fake-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return UniqueFd();
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return file;
}

// The size of a memory file that cannot shrink; 0 for anything else.
std::uint64_t SealedSize(int descriptor) {
  struct stat facts = {};
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(descriptor, &facts) != 0) return 0;
  return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace

FakeControl::FakeControl(FakeState* state, FakeAttachServer* attach, std::string attach_path,
                         v1::DeviceInfo device)
    : state_(state),
      attach_(attach),
      attach_path_(std::move(attach_path)),
      device_(std::move(device)) {}

absl::Status FakeControl::Enter(const std::string& method, const v1::SessionHandle& session) {
  if (absl::Status status = state_->Scripted(method); !status.ok()) return status;
  return state_->CheckSession(session.id(), session.token());
}

absl::Status FakeControl::Await(grpc::ServerContext* context, std::uint64_t session,
                                std::uint64_t value) {
  while (!state_->BatchDone(session, value, absl::Milliseconds(5))) {
    if (context->IsCancelled()) return absl::CancelledError("the call was cancelled");
  }
  return state_->BatchError(session, value);
}

grpc::Status FakeControl::GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*,
                                  v1::GetInfoResponse* response) {
  response->set_version("0.0.1");
  response->set_attach_path(attach_path_);
  *response->add_devices() = device_;
  return ToGrpc(state_->Scripted("GetInfo"));
}

grpc::Status FakeControl::OpenSession(grpc::ServerContext*, const v1::OpenSessionRequest* request,
                                      v1::OpenSessionResponse* response) {
  if (absl::Status status = state_->Scripted("OpenSession"); !status.ok()) return ToGrpc(status);
  if (!request->device().empty() && request->device() != device_.name()) {
    return ToGrpc(absl::NotFoundError(absl::StrCat(
        "device \"", request->device(), "\" is not there; there are: ", device_.name())));
  }
  *response = state_->OpenSession(*request, device_);
  return grpc::Status::OK;
}

grpc::Status FakeControl::CloseSession(grpc::ServerContext*, const v1::CloseSessionRequest* request,
                                       v1::CloseSessionResponse*) {
  absl::Status status = Enter("CloseSession", request->session());
  if (status.ok()) state_->CloseSession(request->session().id());
  return ToGrpc(status);
}

grpc::Status FakeControl::CreateSegment(grpc::ServerContext*,
                                        const v1::CreateSegmentRequest* request,
                                        v1::CreateSegmentResponse* response) {
  if (absl::Status status = Enter("CreateSegment", request->session()); !status.ok()) {
    return ToGrpc(status);
  }
  const std::uint64_t session = request->session().id();
  const std::uint64_t size = (request->size() + kPage - 1) / kPage * kPage;
  UniqueFd memory = MakeMemoryFile(size);
  const int descriptor = memory.get();
  const std::uint64_t segment = state_->AddSegment(session, std::move(memory), size);
  response->set_segment(segment);
  response->set_size(size);
  response->set_cookie(segment + 1000);
  // A script may ask for a memory file that is too short.
  const absl::Status fault = state_->Scripted("SendMemory");
  if (absl::IsDataLoss(fault)) {
    return ToGrpc(attach_->SendMemory(session, response->cookie(), MakeMemoryFile(kPage).get()));
  }
  return ToGrpc(attach_->SendMemory(session, response->cookie(), descriptor));
}

grpc::Status FakeControl::RegisterSegment(grpc::ServerContext*,
                                          const v1::RegisterSegmentRequest* request,
                                          v1::RegisterSegmentResponse* response) {
  if (absl::Status status = Enter("RegisterSegment", request->session()); !status.ok()) {
    return ToGrpc(status);
  }
  const std::uint64_t session = request->session().id();
  if (request->has_cuda_ipc()) {
    response->set_size(request->cuda_ipc().handle().size() * kPage);
    response->set_segment(state_->AddSegment(session, UniqueFd(), response->size()));
    return grpc::Status::OK;
  }
  UniqueFd memory = attach_->TakeMemory(session, request->descriptor_cookie());
  response->set_size(SealedSize(memory.get()));
  if (response->size() == 0) {
    return ToGrpc(
        absl::InvalidArgumentError("the descriptor is no memory file with F_SEAL_SHRINK"));
  }
  response->set_segment(state_->AddSegment(session, std::move(memory), response->size()));
  return grpc::Status::OK;
}

grpc::Status FakeControl::ReleaseSegment(grpc::ServerContext*,
                                         const v1::ReleaseSegmentRequest* request,
                                         v1::ReleaseSegmentResponse*) {
  absl::Status status = Enter("ReleaseSegment", request->session());
  if (status.ok()) status = state_->DropSegment(request->session().id(), request->segment());
  return ToGrpc(status);
}

grpc::Status FakeControl::CreateProgram(grpc::ServerContext*,
                                        const v1::CreateProgramRequest* request,
                                        v1::CreateProgramResponse* response) {
  absl::Status status = Enter("CreateProgram", request->session());
  if (status.ok()) {
    response->set_program(state_->AddProgram(request->session().id(), request->program()));
  }
  return ToGrpc(status);
}

grpc::Status FakeControl::ReleaseProgram(grpc::ServerContext*,
                                         const v1::ReleaseProgramRequest* request,
                                         v1::ReleaseProgramResponse*) {
  absl::Status status = Enter("ReleaseProgram", request->session());
  if (status.ok()) status = state_->DropProgram(request->session().id(), request->program());
  return ToGrpc(status);
}

grpc::Status FakeControl::SubmitBatch(grpc::ServerContext* context,
                                      const v1::SubmitBatchRequest* request,
                                      v1::SubmitBatchResponse* response) {
  if (absl::Status status = Enter("SubmitBatch", request->session()); !status.ok()) {
    return ToGrpc(status);
  }
  const absl::StatusOr<std::uint64_t> value = state_->Run(*request);
  if (!value.ok()) return ToGrpc(value.status());
  response->set_value(*value);
  return request->wait() ? ToGrpc(Await(context, request->session().id(), *value))
                         : grpc::Status::OK;
}

grpc::Status FakeControl::WaitBatch(grpc::ServerContext* context,
                                    const v1::WaitBatchRequest* request, v1::WaitBatchResponse*) {
  if (absl::Status status = Enter("WaitBatch", request->session()); !status.ok()) {
    return ToGrpc(status);
  }
  return ToGrpc(Await(context, request->session().id(), request->value()));
}

grpc::Status FakeOperators::ListOperators(grpc::ServerContext*, const v1::ListOperatorsRequest*,
                                          v1::ListOperatorsResponse* response) {
  *response = operators;
  return ToGrpc(state_->Scripted("ListOperators"));
}

grpc::Status FakeOperators::GetOperator(grpc::ServerContext*, const v1::GetOperatorRequest* request,
                                        v1::GetOperatorResponse* response) {
  if (absl::Status status = state_->Scripted("GetOperator"); !status.ok()) return ToGrpc(status);
  for (const v1::OperatorInfo& info : operators.operators()) {
    if (info.name() != request->name()) continue;
    *response->mutable_operator_() = info;
    return grpc::Status::OK;
  }
  return ToGrpc(absl::NotFoundError(absl::StrCat("no operator \"", request->name(), "\"")));
}

grpc::Status FakeAdmin::GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                                  v1::GetStatusResponse* response) {
  *response = status;
  return ToGrpc(state_->Scripted("GetStatus"));
}

grpc::Status FakeAdmin::ListDevices(grpc::ServerContext*, const v1::ListDevicesRequest*,
                                    v1::ListDevicesResponse* response) {
  *response->mutable_devices() = status.devices();
  return ToGrpc(state_->Scripted("ListDevices"));
}

grpc::Status FakeAdmin::ListClients(grpc::ServerContext*, const v1::ListClientsRequest*,
                                    v1::ListClientsResponse* response) {
  *response = clients;
  return ToGrpc(state_->Scripted("ListClients"));
}

}  // namespace gpuos::testing
