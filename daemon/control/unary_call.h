// A gRPC call that is answered later, from any thread.
#ifndef GPUOS_DAEMON_CONTROL_UNARY_CALL_H_
#define GPUOS_DAEMON_CONTROL_UNARY_CALL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"

namespace gpuos::control {

// google.rpc codes are the same numbers on both sides.
inline grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

// The part of a call that outlives gRPC's: whoever works on the answer shares it.
//
// Thread-safe. Does not block.
template <typename Response>
class UnaryCall {
 public:
  UnaryCall(grpc::ServerUnaryReactor* reactor, Response* response)
      : reactor_(reactor), response_(response) {}

  // Gives the answer. Returns false, and does nothing, if the call was cancelled or answered
  // before.
  bool Finish(absl::StatusOr<Response> answer) {
    grpc::ServerUnaryReactor* reactor = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      reactor = std::exchange(reactor_, nullptr);
      on_cancel_ = nullptr;
      if (reactor == nullptr) return false;
      if (answer.ok()) *response_ = *std::move(answer);
    }
    reactor->Finish(ToGrpc(answer.status()));
    return true;
  }

  // Sets what to do, once, when the client cancels or leaves before the answer; at once if it has.
  void OnCancel(std::function<void()> on_cancel) {
    {
      absl::MutexLock lock(&mutex_);
      if (!cancelled_) {
        if (reactor_ != nullptr) on_cancel_ = std::move(on_cancel);
        return;
      }
    }
    on_cancel();
  }

  // gRPC says that the client cancelled, or is gone.
  void Cancel() {
    std::function<void()> on_cancel;
    {
      absl::MutexLock lock(&mutex_);
      if (reactor_ == nullptr) return;
      cancelled_ = true;
      on_cancel.swap(on_cancel_);
    }
    Finish(absl::CancelledError("the call was cancelled"));
    if (on_cancel) on_cancel();
  }

 private:
  absl::Mutex mutex_;
  grpc::ServerUnaryReactor* reactor_ ABSL_GUARDED_BY(mutex_);  // Null once answered.
  Response* const response_ ABSL_PT_GUARDED_BY(mutex_);        // gRPC's, until answered.
  std::function<void()> on_cancel_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// gRPC's part: deletes itself when gRPC is done with it.
template <typename Response>
class UnaryReactor : public grpc::ServerUnaryReactor {
 public:
  explicit UnaryReactor(Response* response)
      : call_(std::make_shared<UnaryCall<Response>>(this, response)) {}

  const std::shared_ptr<UnaryCall<Response>>& call() const { return call_; }

 private:
  void OnCancel() override { call_->Cancel(); }
  void OnDone() override { delete this; }

  const std::shared_ptr<UnaryCall<Response>> call_;
};

// For a service's method: `work` is given the call and sees to it that it is answered, now or
// later.
template <typename Response, typename Work>
grpc::ServerUnaryReactor* Serve(Response* response, Work work) {
  auto* reactor = new UnaryReactor<Response>(response);
  // gRPC keeps an answer that comes before it has the reactor.
  work(reactor->call());
  return reactor;
}

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_UNARY_CALL_H_
