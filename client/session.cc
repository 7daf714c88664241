// Connecting, closing, programs and batches; session_segments.cc has the segments.
#include "gpuos/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "client/internal/session_state.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos {

using internal::SessionState;
using OnLoss = SessionState::OnLoss;
using Control = v1::Control::Stub;

namespace {

// A deadline that has passed before the call is sent would tell nothing.
constexpr absl::Duration kShortestWait = absl::Milliseconds(5);

}  // namespace

Session::Session(std::unique_ptr<SessionState> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<Session>> Session::Connect(Options options) {
  absl::StatusOr<std::unique_ptr<SessionState>> state = SessionState::Open(options);
  if (!state.ok()) return state.status();
  return absl::WrapUnique(new Session(*std::move(state)));
}

Session::~Session() {
  if (state_->fork_check().InChild()) {
    SessionState::Abandon(std::move(state_));
    return;
  }
  Close().IgnoreError();
}

absl::Status Session::Close() {
  if (absl::Status status = state_->fork_check().Check(); !status.ok()) return status;
  if (state_->closed()) return absl::OkStatus();
  return state_->Close();
}

std::uint64_t Session::id() const { return state_->handle().id(); }
const std::string& Session::device_name() const { return state_->device().name(); }
const std::string& Session::device_uuid() const { return state_->device().uuid(); }

absl::StatusOr<ProgramId> Session::CreateProgram(const ProgramBuilder& builder) {
  // Also when the answer is at hand: what lives in a lost session is no program any more.
  if (absl::Status status = state_->Check(); !status.ok()) return status;
  std::string bytes = internal::CanonicalBytes(builder.program());
  if (const std::optional<ProgramId> known = state_->programs().Find(bytes)) return *known;
  v1::CreateProgramRequest request;
  *request.mutable_program() = builder.program();
  v1::CreateProgramResponse response;
  if (absl::Status status = state_->Call(&Control::CreateProgram, std::move(request), &response,
                                         state_->CallDeadline());
      !status.ok()) {
    return status;
  }
  const ProgramId program{response.program()};
  state_->programs().Insert(std::move(bytes), program);
  return program;
}

absl::Status Session::ReleaseProgram(ProgramId program) {
  if (absl::Status status = state_->Check(); !status.ok()) return status;
  // First: whoever creates the program from now on has to ask.
  state_->programs().Forget(program);
  v1::ReleaseProgramRequest request;
  request.set_program(static_cast<std::uint64_t>(program));
  v1::ReleaseProgramResponse response;
  return state_->Call(&Control::ReleaseProgram, std::move(request), &response,
                      state_->CallDeadline());
}

absl::StatusOr<std::uint64_t> Session::Submit(ProgramId program, absl::Span<const Binding> bindings,
                                              bool wait) {
  v1::SubmitBatchRequest request;
  request.set_program(static_cast<std::uint64_t>(program));
  request.set_wait(wait);
  request.mutable_bindings()->Reserve(static_cast<int>(bindings.size()));
  for (const Binding& binding : bindings) {
    v1::Binding* const out = request.add_bindings();
    out->set_segment(static_cast<std::uint64_t>(binding.segment));
    out->set_offset(binding.offset);
  }
  v1::SubmitBatchResponse response;
  const absl::Time deadline = wait ? absl::InfiniteFuture() : state_->CallDeadline();
  if (absl::Status status = state_->Call(&Control::SubmitBatch, std::move(request), &response,
                                         deadline, OnLoss::kBatchLost);
      !status.ok()) {
    return status;
  }
  return response.value();
}

absl::Status Session::Wait(std::uint64_t value, absl::Duration timeout) {
  v1::WaitBatchRequest request;
  request.set_value(value);
  v1::WaitBatchResponse response;
  const absl::Duration limit = std::max(timeout, kShortestWait);
  absl::Status status = state_->Call(&Control::WaitBatch, std::move(request), &response,
                                     absl::Now() + limit, OnLoss::kBatchLost);
  if (!absl::IsDeadlineExceeded(status)) return status;
  return absl::DeadlineExceededError(
      absl::StrCat("batches 1 to ", value, " of session ", id(), " were not all done within ",
                   absl::FormatDuration(limit), ": they go on, wait again"));
}

}  // namespace gpuos
