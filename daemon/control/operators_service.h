// The gRPC service that says what can be run.
#ifndef GPUOS_DAEMON_CONTROL_OPERATORS_SERVICE_H_
#define GPUOS_DAEMON_CONTROL_OPERATORS_SERVICE_H_

#include <utility>

#include "daemon/control/devices.h"
#include "daemon/control/later.h"
#include "gpuos/v1/operators.grpc.pb.h"

namespace gpuos::control {

// Translates what the executors say; needs no session.
//
// Ownership: `devices` outlives it and the server. Thread-safe.
class OperatorsService final : public v1::Operators::CallbackService {
 public:
  OperatorsService(const Devices* devices, Later later)
      : devices_(devices), later_(std::move(later)) {}

  grpc::ServerUnaryReactor* ListOperators(grpc::CallbackServerContext* context,
                                          const v1::ListOperatorsRequest* request,
                                          v1::ListOperatorsResponse* response) override;
  grpc::ServerUnaryReactor* GetOperator(grpc::CallbackServerContext* context,
                                        const v1::GetOperatorRequest* request,
                                        v1::GetOperatorResponse* response) override;

 private:
  const Devices* const devices_;
  const Later later_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_OPERATORS_SERVICE_H_
