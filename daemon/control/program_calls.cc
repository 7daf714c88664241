#include "daemon/control/program_calls.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/control/executor_client.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {
namespace {

void Drop(Session& session, std::uint64_t id, ExecutorClient::Reply reply) {
  v1::ExecutorRequest request;
  request.mutable_drop_program()->set_session(session.id());
  request.mutable_drop_program()->set_program_id(id);
  session.executor().Call(std::move(request), nullptr, std::move(reply));
}

void Load(const std::shared_ptr<Session>& session, std::uint64_t id, const v1::Program& program) {
  v1::ExecutorRequest request;
  v1::LoadProgram& load = *request.mutable_load_program();
  load.set_session(session->id());
  load.set_program_id(id);
  *load.mutable_program() = program;
  session->executor().Call(std::move(request), nullptr,
                           [session, id](const absl::StatusOr<v1::ExecutorResponse>& response) {
                             const bool stays = session->programs().Finish(id, response.status());
                             if (stays || !response.ok()) return;
                             Drop(*session, id, [](const absl::StatusOr<v1::ExecutorResponse>&) {});
                           });
}

}  // namespace

void CreateProgram(std::shared_ptr<Session> session, IdSource* ids, const v1::Program& program,
                   Reply<v1::CreateProgramResponse> reply) {
  const std::uint64_t id = ids->Next();
  // Kept on this side, too: Request takes the callback even when it then refuses.
  const Reply<v1::CreateProgramResponse> refuse = reply;
  absl::StatusOr<bool> load = session->programs().Request(
      id, std::make_shared<const std::string>(program.SerializeAsString()),
      [reply = std::move(reply)](absl::StatusOr<std::uint64_t> known) {
        if (!known.ok()) return reply(known.status());
        v1::CreateProgramResponse response;
        response.set_program(*known);
        return reply(std::move(response));
      });
  if (!load.ok()) {
    refuse(load.status());
  } else if (*load) {
    Load(session, id, program);
  }
}

void ReleaseProgram(std::shared_ptr<Session> session, std::uint64_t program,
                    Reply<v1::ReleaseProgramResponse> reply) {
  if (absl::Status status = session->programs().Remove(program); !status.ok()) {
    reply(status);
    return;
  }
  Drop(*session, program,
       [reply = std::move(reply)](const absl::StatusOr<v1::ExecutorResponse>& response) {
         // An executor that was lost, or its replacement, which was never given the program, does
         // not have it either.
         if (response.ok() || absl::IsAborted(response.status()) ||
             absl::IsNotFound(response.status()) || absl::IsUnavailable(response.status())) {
           reply(v1::ReleaseProgramResponse());
         } else {
           reply(response.status());
         }
       });
}

}  // namespace gpuos::control
