#include "gpuos/admin.h"

#include <utility>

#include "absl/memory/memory.h"
#include "client/internal/connection.h"
#include "client/internal/fork_check.h"

namespace gpuos {
namespace internal {

// Owns the connection of an Admin.
class AdminState {
 public:
  AdminState(std::unique_ptr<Connection> connection, absl::Duration timeout)
      : connection_(std::move(connection)), timeout_(timeout) {}

  const ForkCheck& fork_check() const { return fork_check_; }
  Connection& connection() { return *connection_; }

  template <typename Response, typename Stub, typename Request>
  absl::StatusOr<Response> Ask(Stub& stub,
                               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                            Response*),
                               const Request& request) {
    if (absl::Status status = fork_check_.Check(); !status.ok()) return status;
    Response response;
    if (absl::Status status =
            connection_->Call(stub, method, request, &response, absl::Now() + timeout_);
        !status.ok()) {
      return status;
    }
    return response;
  }

 private:
  const ForkCheck fork_check_;
  const std::unique_ptr<Connection> connection_;
  const absl::Duration timeout_;
};

}  // namespace internal

using internal::AdminState;

Admin::Admin(std::unique_ptr<AdminState> state) : state_(std::move(state)) {}

Admin::~Admin() {
  // In a forked child gRPC's threads do not exist, and its destructors would wait for them.
  if (state_->fork_check().InChild()) static_cast<void>(state_.release());
}

absl::StatusOr<std::unique_ptr<Admin>> Admin::Connect(Options options) {
  absl::StatusOr<std::unique_ptr<internal::Connection>> connection =
      internal::Connection::Open(options.target, options.timeout);
  if (!connection.ok()) return connection.status();
  return absl::WrapUnique(
      new Admin(std::make_unique<AdminState>(*std::move(connection), options.timeout)));
}

absl::StatusOr<v1::GetStatusResponse> Admin::GetStatus() {
  return state_->Ask(state_->connection().admin(), &v1::Admin::Stub::GetStatus,
                     v1::GetStatusRequest());
}

absl::StatusOr<v1::ListDevicesResponse> Admin::ListDevices() {
  return state_->Ask(state_->connection().admin(), &v1::Admin::Stub::ListDevices,
                     v1::ListDevicesRequest());
}

absl::StatusOr<v1::ListClientsResponse> Admin::ListClients() {
  return state_->Ask(state_->connection().admin(), &v1::Admin::Stub::ListClients,
                     v1::ListClientsRequest());
}

absl::StatusOr<v1::ListOperatorsResponse> Admin::ListOperators() {
  return state_->Ask(state_->connection().operators(), &v1::Operators::Stub::ListOperators,
                     v1::ListOperatorsRequest());
}

absl::StatusOr<v1::OperatorInfo> Admin::GetOperator(const std::string& name) {
  v1::GetOperatorRequest request;
  request.set_name(name);
  absl::StatusOr<v1::GetOperatorResponse> response =
      state_->Ask(state_->connection().operators(), &v1::Operators::Stub::GetOperator, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_operator_());
}

}  // namespace gpuos
