// For tests: an executor that answers when, and what, the test says.
#ifndef GPUOS_DAEMON_CONTROL_FAKE_EXECUTOR_CLIENT_H_
#define GPUOS_DAEMON_CONTROL_FAKE_EXECUTOR_CLIENT_H_

#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/control/executor_client.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {

// Keeps requests until they are answered. Thread-compatible.
class FakeExecutorClient : public ExecutorClient {
 public:
  struct Asked {
    v1::ExecutorRequest request;
    SharedFd descriptor;
    Reply reply;
  };

  void Call(v1::ExecutorRequest request, SharedFd descriptor, Reply reply) override {
    asked_.push_back({std::move(request), std::move(descriptor), std::move(reply)});
  }

  // Requests that wait for an answer, oldest first.
  const std::deque<Asked>& asked() const { return asked_; }

  // Takes the oldest request and answers it. Returns the request. REQUIRES: there is one.
  v1::ExecutorRequest Answer(absl::StatusOr<v1::ExecutorResponse> response) {
    Asked oldest = std::move(asked_.front());
    asked_.pop_front();
    oldest.reply(std::move(response));
    return std::move(oldest.request);
  }
  v1::ExecutorRequest Answer() { return Answer(v1::ExecutorResponse()); }

 private:
  std::deque<Asked> asked_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_FAKE_EXECUTOR_CLIENT_H_
