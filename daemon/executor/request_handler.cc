#include "daemon/executor/request_handler.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "daemon/executor/describe.h"
#include "daemon/link/status_codes.h"
#include "gpuos/v1/admin.pb.h"

namespace gpuos::executor {

std::optional<v1::ExecutorResponse> RequestHandler::Handle(const v1::ExecutorRequest& request,
                                                           int descriptor, Time now) {
  v1::ExecutorResponse response;
  response.set_id(request.id());
  bool later = false;
  const absl::Status status = Dispatch(request, descriptor, now, response, later);
  if (status.ok() && later) return std::nullopt;
  link::SetStatus(status, response);
  return response;
}

v1::ExecutorResponse RequestHandler::ToResponse(const Finished& finished) {
  v1::ExecutorResponse response;
  response.set_id(finished.ticket);
  link::SetStatus(finished.status, response);
  return response;
}

v1::ExecutorResponse RequestHandler::MakeGoodbye(const absl::Status& reason) {
  v1::ExecutorResponse response;
  link::SetStatus(reason, response);
  response.mutable_goodbye();
  return response;
}

absl::Status RequestHandler::Dispatch(const v1::ExecutorRequest& request, int descriptor, Time now,
                                      v1::ExecutorResponse& response, bool& later) {
  const Ticket ticket = request.id();
  if (ticket == 0) return absl::InvalidArgumentError("id is 0; choose another for each request");
  later = true;
  switch (request.kind_case()) {
    case v1::ExecutorRequest::kPing:
      return core_.Ping(ticket);
    case v1::ExecutorRequest::kCloseSession:
      return core_.CloseSession(ticket, request.close_session().session());
    case v1::ExecutorRequest::kDropSegment:
      return core_.DropSegment(ticket, request.drop_segment().session(),
                               request.drop_segment().segment());
    case v1::ExecutorRequest::kDropProgram:
      return core_.DropProgram(ticket, request.drop_program().session(),
                               request.drop_program().program_id());
    case v1::ExecutorRequest::kRunBatch:
      return Run(ticket, request.run_batch());
    case v1::ExecutorRequest::kStop:
      return core_.Stop(ticket);
    default:
      break;
  }
  later = false;
  switch (request.kind_case()) {
    case v1::ExecutorRequest::kStart:
      return Start(request.start(), response);
    case v1::ExecutorRequest::kOpenSession:
      return core_.OpenSession(request.open_session().session());
    case v1::ExecutorRequest::kImportSegment:
      return Import(request.import_segment(), descriptor, response);
    case v1::ExecutorRequest::kLoadProgram:
      return Load(request.load_program(), response);
    case v1::ExecutorRequest::kStatus:
      *response.mutable_status() = DescribeStatus(core_, now);
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError(
          "kind is not set or not known to this executor; gpuosd and executor must be of one "
          "build");
  }
}

absl::Status RequestHandler::Start(const v1::StartRequest& request,
                                   v1::ExecutorResponse& response) {
  switch (request.residence()) {
    case v1::RESIDENCE_ELASTIC:
    case v1::RESIDENCE_DEDICATED:
      core_.SetDedicated(request.residence() == v1::RESIDENCE_DEDICATED);
      *response.mutable_start() = DescribeStart(core_);
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("residence is ", request.residence(), "; it must be elastic or dedicated"));
  }
}

absl::Status RequestHandler::Import(const v1::ImportSegment& request, int descriptor,
                                    v1::ExecutorResponse& response) {
  absl::StatusOr<std::uint64_t> size;
  if (request.source_case() == v1::ImportSegment::kCudaIpc) {
    const std::string& handle = request.cuda_ipc().handle();
    size = core_.ImportCudaIpc(
        request.session(), request.segment(),
        absl::MakeConstSpan(reinterpret_cast<const std::byte*>(handle.data()), handle.size()),
        request.cuda_ipc().device_uuid());
  } else if (request.memory_file()) {
    if (descriptor < 0) {
      return absl::InvalidArgumentError(
          "memory_file is set, but no descriptor came with the message");
    }
    size = core_.ImportMemoryFile(request.session(), request.segment(), descriptor);
  } else {
    return absl::InvalidArgumentError("source is not set; give memory_file or cuda_ipc");
  }
  if (!size.ok()) return std::move(size).status();
  response.mutable_segment_imported()->set_size(*size);
  return absl::OkStatus();
}

absl::Status RequestHandler::Load(const v1::LoadProgram& request, v1::ExecutorResponse& response) {
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> loaded =
      core_.LoadProgram(request.session(), request.program_id(), request.program());
  if (!loaded.ok()) return std::move(loaded).status();
  response.mutable_program_loaded()->set_tasks((*loaded)->tasks);
  response.mutable_program_loaded()->set_edges((*loaded)->edges);
  return absl::OkStatus();
}

absl::Status RequestHandler::Run(Ticket ticket, const v1::RunBatch& request) {
  std::vector<Binding> bindings;
  bindings.reserve(request.bindings_size());
  for (const v1::Binding& binding : request.bindings()) {
    bindings.push_back({.segment = binding.segment(), .offset = binding.offset()});
  }
  return core_.RunBatch(ticket, request.session(), request.program_id(), bindings);
}

}  // namespace gpuos::executor
