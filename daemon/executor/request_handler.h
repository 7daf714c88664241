// Requests of gpuosd, as messages, to the core, and the core's answers back.
#ifndef GPUOS_DAEMON_EXECUTOR_REQUEST_HANDLER_H_
#define GPUOS_DAEMON_EXECUTOR_REQUEST_HANDLER_H_

#include <optional>

#include "daemon/executor/clock.h"
#include "daemon/executor/core.h"
#include "daemon/executor/session.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::executor {

// Translates and nothing else. Thread-compatible; blocks where Core does. Does not own the core.
class RequestHandler {
 public:
  explicit RequestHandler(Core& core) : core_(core) {}

  // Hands a request to the core. Returns its answer if it has one already; otherwise the core's
  // Step will, under the request's id. `descriptor` rode with the request, or is -1; stays the
  // caller's.
  std::optional<v1::ExecutorResponse> Handle(const v1::ExecutorRequest& request, int descriptor,
                                             Time now);

  // An answer of Core::Step as a message.
  static v1::ExecutorResponse ToResponse(const Finished& finished);

  // What the executor says unasked before it ends.
  static v1::ExecutorResponse MakeGoodbye(const absl::Status& reason);

 private:
  // OK and `later` set: Step will answer. Otherwise the response's kind is filled if it has one.
  absl::Status Dispatch(const v1::ExecutorRequest& request, int descriptor, Time now,
                        v1::ExecutorResponse& response, bool& later);

  absl::Status Start(const v1::StartRequest& request, v1::ExecutorResponse& response);
  absl::Status Import(const v1::ImportSegment& request, int descriptor,
                      v1::ExecutorResponse& response);
  absl::Status Load(const v1::LoadProgram& request, v1::ExecutorResponse& response);
  absl::Status Run(Ticket ticket, const v1::RunBatch& request);

  Core& core_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_REQUEST_HANDLER_H_
