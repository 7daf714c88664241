// How long to wait before an executor is started again.
#ifndef GPUOS_DAEMON_CONTROL_BACKOFF_H_
#define GPUOS_DAEMON_CONTROL_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"

namespace gpuos::control {

// At once the first time, then 1 s, doubling up to 30 s; from the start again after one that was
// ready for at least 10 s. Thread-compatible, pure.
class Backoff {
 public:
  // The executor has ended, after having been ready for `ready` (zero: never). Returns the wait.
  absl::Duration Next(absl::Duration ready) {
    if (ready >= kStable) next_ = absl::ZeroDuration();
    const absl::Duration wait = next_;
    next_ = std::clamp(2 * wait, kFirst, kLongest);
    return wait;
  }

 private:
  static constexpr absl::Duration kStable = absl::Seconds(10);
  static constexpr absl::Duration kFirst = absl::Seconds(1);
  static constexpr absl::Duration kLongest = absl::Seconds(30);

  absl::Duration next_ = absl::ZeroDuration();
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_BACKOFF_H_
