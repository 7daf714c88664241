#include "client/internal/session_state.h"

#include <errno.h>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace gpuos::internal {
namespace {

// After gRPC has said that a daemon's connection broke: the kernel closes a dying process's sockets
// one after another, so the attach connection may be seen to break a moment later.
constexpr absl::Duration kLossPatience = absl::Milliseconds(200);

constexpr absl::string_view kWhy =
    "gpuosd closed it (it was stopped or restarted, or it ended the session); connect again";

std::string NameOr(const std::string& name) {
  return name.empty() ? program_invocation_short_name : name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SessionState>> SessionState::Open(const Session::Options& options) {
  const absl::Time deadline = absl::Now() + options.connect_timeout;
  absl::StatusOr<std::unique_ptr<Connection>> connection =
      Connection::Open(options.target, options.connect_timeout);
  if (!connection.ok()) return connection.status();
  auto state = absl::WrapUnique(new SessionState(options, *std::move(connection)));
  if (absl::Status status = state->OpenAt(deadline); !status.ok()) return status;
  return state;
}

absl::Status SessionState::OpenAt(absl::Time deadline) {
  v1::OpenSessionRequest request;
  request.set_device(options_.device);
  request.set_client_name(NameOr(options_.client_name));
  if (absl::Status status = connection_->Call(
          connection_->control(), &v1::Control::Stub::OpenSession, request, &opened_, deadline);
      !status.ok()) {
    return status;
  }
  absl::StatusOr<std::unique_ptr<AttachConnection>> attach =
      AttachConnection::Open(connection_->info().attach_path(), handle(), deadline);
  if (!attach.ok()) return attach.status();
  attach_ = *std::move(attach);
  return absl::OkStatus();
}

absl::Status SessionState::Check() const {
  if (absl::Status status = fork_check_.Check(); !status.ok()) return status;
  if (closed_) {
    return absl::FailedPreconditionError(
        absl::StrCat("session ", handle().id(), " was closed by this process; connect again"));
  }
  if (attach_->Lost()) {
    return absl::UnavailableError(absl::StrCat("session ", handle().id(), " of gpuosd at ",
                                               connection_->path(), " is over: ", kWhy));
  }
  return absl::OkStatus();
}

absl::Status SessionState::Explain(absl::Status status, OnLoss on_loss) const {
  // The daemon says UNAVAILABLE too (its executor is being replaced); the attach connection tells
  // the two apart. CANCELLED is a daemon that is stopping: this side cancels nothing.
  const bool broken = absl::IsUnavailable(status) || absl::IsCancelled(status);
  if (!broken || !attach_->Lost(kLossPatience)) return status;
  if (on_loss == OnLoss::kBatchLost) {
    return absl::AbortedError(absl::StrCat(
        "session ", handle().id(), " of gpuosd at ", connection_->path(),
        " ended while a batch was on its way, so what the batch writes is undefined: ", kWhy));
  }
  return absl::UnavailableError(absl::StrCat("session ", handle().id(), " of gpuosd at ",
                                             connection_->path(), " ended: ", kWhy));
}

absl::Status SessionState::Close() {
  v1::CloseSessionResponse response;
  const absl::Status status =
      Call(&v1::Control::Stub::CloseSession, v1::CloseSessionRequest(), &response, CallDeadline());
  closed_ = true;
  attach_->CloseSocket();
  return status;
}

void SessionState::Abandon(std::unique_ptr<SessionState> state) {
  SessionState* const given_up = state.release();
  // The daemon sees the connection closed only when every copy of it is.
  given_up->attach_->CloseSocket();
}

}  // namespace gpuos::internal
