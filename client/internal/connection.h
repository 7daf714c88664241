// The gRPC connection to one gpuosd.
#ifndef GPUOS_CLIENT_INTERNAL_CONNECTION_H_
#define GPUOS_CLIENT_INTERNAL_CONNECTION_H_

#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/status.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gpuos/v1/admin.grpc.pb.h"
#include "gpuos/v1/control.grpc.pb.h"
#include "gpuos/v1/operators.grpc.pb.h"

namespace gpuos::internal {

// Owns one socket and the gRPC channel over it. Exactly one connection, made before gRPC is
// involved: so that an errno of connect(2) is known, nothing retries behind the caller's back, and
// a daemon that was restarted is never mistaken for the one that the session lives in.
//
// Thread-safe. Open and calls block until their deadline. Errors of the daemon come as it said
// them; a connection that is gone gives UNAVAILABLE for ever. FAILED_PRECONDITION: a parent process
// connected before it forked this one.
class Connection {
 public:
  // Connects, and asks GetInfo to learn that a gpuosd is there.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& target,
                                                          absl::Duration timeout);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Path of the socket.
  const std::string& path() const { return path_; }
  // What the daemon said when the connection was opened.
  const v1::GetInfoResponse& info() const { return info_; }

  v1::Control::Stub& control() { return *control_; }
  v1::Operators::Stub& operators() { return *operators_; }
  v1::Admin::Stub& admin() { return *admin_; }

  // One call: Call(control(), &v1::Control::Stub::GetInfo, ...). `response` is untouched on
  // failure.
  template <typename Stub, typename Request, typename Response>
  absl::Status Call(Stub& stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response, absl::Time deadline) {
    grpc::ClientContext context;
    if (deadline != absl::InfiniteFuture()) context.set_deadline(absl::ToChronoTime(deadline));
    Response answer;
    const grpc::Status status = (stub.*method)(&context, request, &answer);
    if (status.ok()) response->Swap(&answer);
    return Translate(status, Request::descriptor()->name());
  }

 private:
  Connection(std::string path, std::shared_ptr<grpc::Channel> channel);
  absl::Status Greet(absl::Time deadline);
  absl::Status Translate(const grpc::Status& status, absl::string_view request) const;

  const std::string path_;
  const std::unique_ptr<v1::Control::Stub> control_;
  const std::unique_ptr<v1::Operators::Stub> operators_;
  const std::unique_ptr<v1::Admin::Stub> admin_;
  v1::GetInfoResponse info_;  // Constant after Open.
};

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_CONNECTION_H_
