#include "daemon/control/batch_calls.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/control/executor_client.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {
namespace {

v1::SubmitBatchResponse Submitted(std::uint64_t value) {
  v1::SubmitBatchResponse response;
  response.set_value(value);
  return response;
}

absl::Status Check(Session& session, const v1::SubmitBatchRequest& request) {
  if (absl::Status status = session.programs().CheckReady(request.program()); !status.ok()) {
    return status;
  }
  for (const v1::Binding& binding : request.bindings()) {
    if (absl::Status status = session.segments().CheckLive(binding.segment()); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// Sends the batch; `done` is told its number and result.
template <typename Done>
absl::StatusOr<std::uint64_t> Send(Session& session, const v1::SubmitBatchRequest& request,
                                   Done done) {
  v1::ExecutorRequest message;
  v1::RunBatch& run = *message.mutable_run_batch();
  run.set_session(session.id());
  run.set_program_id(request.program());
  *run.mutable_bindings() = request.bindings();
  absl::MutexLock lock(&session.submit_mutex());
  absl::StatusOr<std::uint64_t> value = session.batches().Begin();
  if (!value.ok()) return value.status();
  session.executor().Call(std::move(message), nullptr,
                          [value = *value, done = std::move(done)](
                              const absl::StatusOr<v1::ExecutorResponse>& response) {
                            done(value, response.status());
                          });
  return value;
}

}  // namespace

void SubmitBatch(std::shared_ptr<Session> session, const v1::SubmitBatchRequest& request,
                 Reply<v1::SubmitBatchResponse> reply) {
  if (absl::Status status = Check(*session, request); !status.ok()) {
    reply(status);
    return;
  }
  const bool wait = request.wait();
  absl::StatusOr<std::uint64_t> value = Send(
      *session, request, [session, wait, reply](std::uint64_t batch, const absl::Status& result) {
        bool told = false;
        if (wait) told = result.ok() ? reply(Submitted(batch)) : reply(result);
        session->batches().Done(batch, result, told);
      });
  if (!value.ok()) {
    reply(value.status());
  } else if (!wait) {
    reply(Submitted(*value));
  }
}

}  // namespace gpuos::control
