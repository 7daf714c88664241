// Telling the outside whether the daemon serves.
#ifndef GPUOS_DAEMON_CONTROL_READINESS_H_
#define GPUOS_DAEMON_CONTROL_READINESS_H_

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "daemon/control/notify.h"

namespace gpuos::control {

// READY=1 to the service manager once, when every device has answered a ping for the first time;
// its STATUS, and the health service, follow every change.
//
// Ownership: the notifier outlives it. Thread-safe.
class Readiness {
 public:
  // `set_serving` is the health service's.
  Readiness(const Notifier* notifier, std::function<void(bool serving)> set_serving)
      : notifier_(notifier), set_serving_(std::move(set_serving)) {}

  // `devices` is OK if every device is ready; otherwise why one is not.
  void Update(const absl::Status& devices);
  // STOPPING=1; Update has no effect any more.
  void Stop();

 private:
  const Notifier* const notifier_;
  const std::function<void(bool)> set_serving_;

  absl::Mutex mutex_;
  bool told_ready_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_READINESS_H_
