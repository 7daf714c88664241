// The executor's loop: takes gpuosd's requests from the link, steps the core, sends answers.
#ifndef GPUOS_DAEMON_EXECUTOR_SERVER_H_
#define GPUOS_DAEMON_EXECUTOR_SERVER_H_

#include <optional>

#include "absl/status/status.h"
#include "daemon/executor/clock.h"
#include "daemon/executor/core.h"
#include "daemon/executor/request_handler.h"
#include "daemon/link/framing.h"
#include "google/protobuf/message_lite.h"

namespace gpuos::executor {

// One thread does everything and sleeps in one place. Does not own core, link or descriptor.
class Server {
 public:
  // `completion_descriptor` as device::Device gives it.
  Server(Core& core, link::Channel& link, int completion_descriptor)
      : core_(core), handler_(core), link_(link), completion_descriptor_(completion_descriptor) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves until the worker is parked after a StopRequest or after the link has closed: OK.
  // DATA_LOSS, also with the worker parked: the peer sent what is no request.
  // Any other error: the device is lost or hangs, gpuosd has been told so by a Goodbye; the process
  // should end at once and leave the device alone.
  absl::Status Run();

 private:
  // Takes what requests have come, some at most. Returns whether there was one.
  bool TakeRequests(Time now);
  // Returns whether to take another before the core is stepped.
  bool HandleReceived(const link::Received& received, Time now);
  // Steps the core. Returns whether there was something to do.
  bool StepCore(Time now);
  void Send(const google::protobuf::MessageLite& message);
  void SayGoodbye();
  // The link is of no use any more: what is published ends, then the worker is parked.
  void LoseLink(const absl::Status& why);
  void Sleep(Time now);
  void DrainCompletionDescriptor() const;

  Core& core_;
  RequestHandler handler_;
  link::Channel& link_;
  const int completion_descriptor_;

  bool link_open_ = true;
  absl::Status end_;     // DATA_LOSS, once the peer has broken the protocol.
  absl::Status health_;  // Of the core.
  Time last_work_{};
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_SERVER_H_
