#include "daemon/control/segment_calls.h"

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/control/executor_client.h"
#include "daemon/control/memory_file.h"
#include "daemon/control/segment_table.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {
namespace {

constexpr std::size_t kCudaIpcHandleBytes = 64;

// The size that the executor found, or why it did not map the segment. Returns whether the segment
// is to stay.
using Imported = std::function<bool(absl::StatusOr<std::uint64_t> size)>;

void Drop(Session& session, std::uint64_t id, ExecutorClient::Reply reply) {
  v1::ExecutorRequest request;
  request.mutable_drop_segment()->set_session(session.id());
  request.mutable_drop_segment()->set_segment(id);
  session.executor().Call(std::move(request), nullptr, std::move(reply));
}

void Undo(const std::shared_ptr<Session>& session, std::uint64_t id) {
  if (!session->segments().BeginRelease(id).ok()) return;
  Drop(*session, id, [session, id](const absl::StatusOr<v1::ExecutorResponse>&) {
    session->segments().Remove(id);
  });
}

void Import(const std::shared_ptr<Session>& session, std::uint64_t id, SegmentSource source,
            Imported imported) {
  if (absl::Status status = session->segments().Add(id, source); !status.ok()) {
    imported(status);
    return;
  }
  v1::ExecutorRequest request;
  v1::ImportSegment& import = *request.mutable_import_segment();
  import.set_session(session->id());
  import.set_segment(id);
  if (source.memory_file != nullptr) {
    import.set_memory_file(true);
  } else {
    *import.mutable_cuda_ipc() = source.cuda_ipc;
  }
  session->executor().Call(
      std::move(request), source.memory_file,
      [session, id, imported = std::move(imported)](absl::StatusOr<v1::ExecutorResponse> response) {
        if (!response.ok()) {
          session->segments().Remove(id);
          imported(response.status());
          return;
        }
        const std::uint64_t size = response->segment_imported().size();
        session->segments().SetLive(id, size);
        if (!imported(size)) Undo(session, id);
      });
}

absl::StatusOr<SegmentSource> SourceOf(Session& session,
                                       const v1::RegisterSegmentRequest& request) {
  SegmentSource source;
  switch (request.source_case()) {
    case v1::RegisterSegmentRequest::kDescriptorCookie: {
      absl::StatusOr<link::UniqueFd> file = session.descriptors().Take(request.descriptor_cookie());
      if (!file.ok()) return file.status();
      source.memory_file = std::make_shared<const link::UniqueFd>(*std::move(file));
      return source;
    }
    case v1::RegisterSegmentRequest::kCudaIpc:
      if (request.cuda_ipc().handle().size() != kCudaIpcHandleBytes) {
        return absl::InvalidArgumentError(absl::StrCat(
            "cuda_ipc.handle has ", request.cuda_ipc().handle().size(), " bytes, not ",
            kCudaIpcHandleBytes, "; give the bytes of the CUipcMemHandle of cuIpcGetMemHandle"));
      }
      source.cuda_ipc = request.cuda_ipc();
      return source;
    case v1::RegisterSegmentRequest::SOURCE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("source is not set; give descriptor_cookie or cuda_ipc");
}

}  // namespace

void CreateSegment(std::shared_ptr<Session> session, IdSource* ids, std::uint64_t size,
                   Reply<v1::CreateSegmentResponse> reply) {
  absl::StatusOr<MemoryFile> file = MakeMemoryFile(size);
  if (!file.ok()) {
    reply(file.status());
    return;
  }
  SegmentSource source;
  source.memory_file = std::make_shared<const link::UniqueFd>(std::move(file->descriptor));
  const std::uint64_t id = ids->Next();
  const SharedFd memory = source.memory_file;
  Import(session, id, std::move(source),
         [session, id, memory, reply = std::move(reply)](absl::StatusOr<std::uint64_t> mapped) {
           if (!mapped.ok()) return reply(mapped.status());
           // The segment's id serves as cookie: it is unique in the session, too.
           if (absl::Status sent = session->SendMemoryFile(id, *memory); !sent.ok()) {
             reply(sent);
             return false;
           }
           v1::CreateSegmentResponse response;
           response.set_segment(id);
           response.set_size(*mapped);
           response.set_cookie(id);
           return reply(std::move(response));
         });
}

void RegisterSegment(std::shared_ptr<Session> session, IdSource* ids,
                     const v1::RegisterSegmentRequest& request,
                     Reply<v1::RegisterSegmentResponse> reply) {
  absl::StatusOr<SegmentSource> source = SourceOf(*session, request);
  if (!source.ok()) {
    reply(source.status());
    return;
  }
  const std::uint64_t id = ids->Next();
  Import(session, id, *std::move(source),
         [id, reply = std::move(reply)](absl::StatusOr<std::uint64_t> mapped) {
           if (!mapped.ok()) return reply(mapped.status());
           v1::RegisterSegmentResponse response;
           response.set_segment(id);
           response.set_size(*mapped);
           return reply(std::move(response));
         });
}

void ReleaseSegment(std::shared_ptr<Session> session, std::uint64_t segment,
                    Reply<v1::ReleaseSegmentResponse> reply) {
  if (absl::Status status = session->segments().BeginRelease(segment); !status.ok()) {
    reply(status);
    return;
  }
  Session& held = *session;
  Drop(held, segment,
       [session = std::move(session), segment,
        reply = std::move(reply)](const absl::StatusOr<v1::ExecutorResponse>& response) {
         session->segments().Remove(segment);
         // An executor that was lost, or its replacement, which was never given the segment, has
         // let it go as well.
         if (response.ok() || absl::IsAborted(response.status()) ||
             absl::IsNotFound(response.status()) || absl::IsUnavailable(response.status())) {
           reply(v1::ReleaseSegmentResponse());
         } else {
           reply(response.status());
         }
       });
}

}  // namespace gpuos::control
