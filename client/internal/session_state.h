// What a session's calls have in common: the connections, the checks before and after each call.
#ifndef GPUOS_CLIENT_INTERNAL_SESSION_STATE_H_
#define GPUOS_CLIENT_INTERNAL_SESSION_STATE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/internal/attach_connection.h"
#include "client/internal/connection.h"
#include "client/internal/cuda_segments.h"
#include "client/internal/fork_check.h"
#include "client/internal/program_cache.h"
#include "gpuos/session.h"
#include "gpuos/v1/control.grpc.pb.h"

namespace gpuos::internal {

// Owns both connections of one session. Thread-safe, but for Close and Abandon, which come last.
class SessionState {
 public:
  // What a call that fails because the session is lost means for its caller.
  enum class OnLoss {
    kNothingHappened,  // UNAVAILABLE: the call had no effect that outlives the session.
    kBatchLost,        // ABORTED: a batch may have run in part.
  };

  // Opens the session. Blocks at most options.connect_timeout.
  static absl::StatusOr<std::unique_ptr<SessionState>> Open(const Session::Options& options);
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  const v1::SessionHandle& handle() const { return opened_.session(); }
  const v1::DeviceInfo& device() const { return opened_.device(); }
  AttachConnection& attach() { return *attach_; }
  ProgramCache& programs() { return programs_; }
  CudaSegments& cuda_segments() { return cuda_segments_; }
  const ForkCheck& fork_check() const { return fork_check_; }
  bool closed() const { return closed_; }
  // When a call that starts now has to be answered.
  absl::Time CallDeadline() const { return absl::Now() + options_.call_timeout; }

  // OK while the session can be used: not in a forked child, not closed, not ended by the daemon.
  absl::Status Check() const;

  // Checks, puts the session's handle into `request`, calls, and says what a failure means.
  template <typename Request, typename Response>
  absl::Status Call(grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*, const Request&,
                                                              Response*),
                    Request request, Response* response, absl::Time deadline,
                    OnLoss on_loss = OnLoss::kNothingHappened) {
    if (absl::Status status = Check(); !status.ok()) return status;
    *request.mutable_session() = handle();
    return Explain(connection_->Call(connection_->control(), method, request, response, deadline),
                   on_loss);
  }

  // Ends the session at the daemon and closes the attach connection.
  absl::Status Close();
  // In a forked child: closes the child's copy of the attach socket and gives everything else up,
  // as gRPC's threads do not exist here and its destructors would wait for them.
  static void Abandon(std::unique_ptr<SessionState> state);

 private:
  SessionState(Session::Options options, std::unique_ptr<Connection> connection)
      : options_(std::move(options)), connection_(std::move(connection)) {}
  absl::Status OpenAt(absl::Time deadline);
  absl::Status Explain(absl::Status status, OnLoss on_loss) const;

  const ForkCheck fork_check_;
  const Session::Options options_;
  const std::unique_ptr<Connection> connection_;
  v1::OpenSessionResponse opened_;            // Constant after Open.
  std::unique_ptr<AttachConnection> attach_;  // Constant after Open.
  ProgramCache programs_;
  CudaSegments cuda_segments_;
  bool closed_ = false;
};

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_SESSION_STATE_H_
