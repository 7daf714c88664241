// The gRPC services of a FakeDaemon.
#ifndef GPUOS_CLIENT_TESTING_FAKE_SERVICES_H_
#define GPUOS_CLIENT_TESTING_FAKE_SERVICES_H_

#include <grpcpp/server_context.h>

#include <string>

#include "client/testing/fake_attach_server.h"
#include "client/testing/fake_state.h"
#include "gpuos/v1/admin.grpc.pb.h"
#include "gpuos/v1/control.grpc.pb.h"
#include "gpuos/v1/operators.grpc.pb.h"

namespace gpuos::testing {

// Borrows state and attach server, which must outlive it. Thread-safe.
class FakeControl final : public v1::Control::Service {
 public:
  FakeControl(FakeState* state, FakeAttachServer* attach, std::string attach_path,
              v1::DeviceInfo device);

  grpc::Status GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*,
                       v1::GetInfoResponse*) override;
  grpc::Status OpenSession(grpc::ServerContext*, const v1::OpenSessionRequest*,
                           v1::OpenSessionResponse*) override;
  grpc::Status CloseSession(grpc::ServerContext*, const v1::CloseSessionRequest*,
                            v1::CloseSessionResponse*) override;
  grpc::Status CreateSegment(grpc::ServerContext*, const v1::CreateSegmentRequest*,
                             v1::CreateSegmentResponse*) override;
  grpc::Status RegisterSegment(grpc::ServerContext*, const v1::RegisterSegmentRequest*,
                               v1::RegisterSegmentResponse*) override;
  grpc::Status ReleaseSegment(grpc::ServerContext*, const v1::ReleaseSegmentRequest*,
                              v1::ReleaseSegmentResponse*) override;
  grpc::Status CreateProgram(grpc::ServerContext*, const v1::CreateProgramRequest*,
                             v1::CreateProgramResponse*) override;
  grpc::Status ReleaseProgram(grpc::ServerContext*, const v1::ReleaseProgramRequest*,
                              v1::ReleaseProgramResponse*) override;
  grpc::Status SubmitBatch(grpc::ServerContext*, const v1::SubmitBatchRequest*,
                           v1::SubmitBatchResponse*) override;
  grpc::Status WaitBatch(grpc::ServerContext*, const v1::WaitBatchRequest*,
                         v1::WaitBatchResponse*) override;

 private:
  absl::Status Enter(const std::string& method, const v1::SessionHandle& session);
  // Waits until the batch is done or the call is cancelled.
  absl::Status Await(grpc::ServerContext* context, std::uint64_t session, std::uint64_t value);

  FakeState* const state_;
  FakeAttachServer* const attach_;
  const std::string attach_path_;
  const v1::DeviceInfo device_;
};

// Answers with what a test has set. Borrows the state.
class FakeOperators final : public v1::Operators::Service {
 public:
  explicit FakeOperators(FakeState* state) : state_(state) {}
  grpc::Status ListOperators(grpc::ServerContext*, const v1::ListOperatorsRequest*,
                             v1::ListOperatorsResponse*) override;
  grpc::Status GetOperator(grpc::ServerContext*, const v1::GetOperatorRequest*,
                           v1::GetOperatorResponse*) override;

  // Set before the server starts.
  v1::ListOperatorsResponse operators;

 private:
  FakeState* const state_;
};

// Answers with what a test has set. Borrows the state.
class FakeAdmin final : public v1::Admin::Service {
 public:
  explicit FakeAdmin(FakeState* state) : state_(state) {}
  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                         v1::GetStatusResponse*) override;
  grpc::Status ListDevices(grpc::ServerContext*, const v1::ListDevicesRequest*,
                           v1::ListDevicesResponse*) override;
  grpc::Status ListClients(grpc::ServerContext*, const v1::ListClientsRequest*,
                           v1::ListClientsResponse*) override;

  // Set before the server starts.
  v1::GetStatusResponse status;
  v1::ListClientsResponse clients;

 private:
  FakeState* const state_;
};

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_FAKE_SERVICES_H_
