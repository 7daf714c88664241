#include "daemon/control/session_restore.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "daemon/control/log.h"
#include "daemon/control/program_table.h"
#include "daemon/control/segment_table.h"
#include "daemon/control/session.h"
#include "gpuos/v1/executor.pb.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::control {
namespace {

void LogLoss(const Session& session, const char* what, std::uint64_t id, const absl::Status& why) {
  LogWarning("session ", session.id(), ": ", what, " ", id, " is lost: ", why.ToString());
}

void RestoreSegments(Session& session, const ExecutorSupervisor::SyncCall& call) {
  for (SegmentTable::Restorable& segment : session.segments().restorable()) {
    v1::ExecutorRequest request;
    v1::ImportSegment& import = *request.mutable_import_segment();
    import.set_session(session.id());
    import.set_segment(segment.id);
    if (segment.source.memory_file != nullptr) {
      import.set_memory_file(true);
    } else {
      *import.mutable_cuda_ipc() = segment.source.cuda_ipc;
    }
    const absl::Status status = call(std::move(request), segment.source.memory_file).status();
    session.segments().SetLost(segment.id, std::string(status.message()));
    if (!status.ok()) LogLoss(session, "segment", segment.id, status);
  }
}

void RestorePrograms(Session& session, const ExecutorSupervisor::SyncCall& call) {
  for (const ProgramTable::Restorable& program : session.programs().restorable()) {
    v1::ExecutorRequest request;
    v1::LoadProgram& load = *request.mutable_load_program();
    load.set_session(session.id());
    load.set_program_id(program.id);
    load.mutable_program()->ParseFromString(*program.bytes);
    const absl::Status status = call(std::move(request), nullptr).status();
    session.programs().SetLost(program.id, std::string(status.message()));
    if (!status.ok()) LogLoss(session, "program", program.id, status);
  }
}

}  // namespace

void RestoreSessions(const Sessions& sessions, const std::string& device,
                     const ExecutorSupervisor::SyncCall& call) {
  for (const std::shared_ptr<Session>& session : sessions.all()) {
    if (session->identity().device != device || !session->opened()) continue;
    v1::ExecutorRequest request;
    request.mutable_open_session()->set_session(session->id());
    if (absl::Status status = call(std::move(request), nullptr).status(); !status.ok()) {
      LogWarning("session ", session->id(), " could not be restored: ", status.ToString());
      continue;
    }
    RestoreSegments(*session, call);
    RestorePrograms(*session, call);
  }
}

}  // namespace gpuos::control
