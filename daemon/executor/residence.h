// When the worker is on the device: decides launches and PARKs. Pure; docs/architecture.md,
// Residence, says why a worker that stays starves others.
#ifndef GPUOS_DAEMON_EXECUTOR_RESIDENCE_H_
#define GPUOS_DAEMON_EXECUTOR_RESIDENCE_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

#include "daemon/executor/clock.h"

namespace gpuos::executor {

// Everything follows from two counts. The n-th PARK of the queue is obeyed by the n-th launch, so
// - launches == parks: nobody comes for what is published behind the last PARK: if there is
//   something, launch;
// - launches == parks + 1: a worker is there, or on its way, and takes whatever is published; it
//   leaves when a PARK is published.
// (Where launches are synchronous a PARK is published before each launch: parks == launches + 1.)
//
// Thread-compatible value; reads no clock; every event is told, every decision is asked for. After
// any event, ask Next() until it says kNothing and do what it says each time.
class Residence {
 public:
  struct Options {
    // The worker stays until somebody needs it away; otherwise it leaves when there is no work.
    bool dedicated = false;
    // Without work the worker stays this long for more, if the work before came as soon. 0: a PARK
    // follows each batch.
    Duration linger = std::chrono::microseconds(50);
    // Launches return when the worker has left: publish PARK before each.
    bool synchronous_launch = false;
    // How long a request to park waits for the worker to run out of work.
    Duration patience = std::chrono::milliseconds(50);

    auto operator<=>(const Options&) const = default;
  };
  enum class Action { kNothing, kLaunch, kPublishPark };

  explicit Residence(const Options& options) : options_(options) {}

  // Events.
  void BatchPublished(Time now);
  void BatchCompleted(Time now);
  // In all, as Worker::FinishedLaunches says.
  void LaunchesFinished(std::uint64_t finished) { finished_ = finished; }
  // Somebody needs the worker away. It is kept away, once parked() holds, until EndParkRequest.
  void RequestPark(Time now);
  void EndParkRequest() { park_requested_.reset(); }
  // Parks the worker and, from then on, launches it only for what is published already.
  void Stop() { stopping_ = true; }
  // Changes options while running; takes effect with the next decision.
  void SetOptions(const Options& options) { options_ = options; }

  // What is to be done now, and counts it as done.
  Action Next(Time now);
  // When Next() may decide something although no event came.
  std::optional<Time> wake_at() const;

  // No worker is there and none is on its way.
  bool parked() const { return finished_ == launches_ && launches_ == parks_; }
  // A PARK was published that is not obeyed.
  bool leaving() const { return parks_ > finished_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t parks() const { return parks_; }
  std::uint64_t finished() const { return finished_; }
  const Options& options() const { return options_; }

  auto operator<=>(const Residence&) const = default;

 private:
  bool WantsLaunch() const;
  bool WantsPark(Time now) const;

  Options options_;
  std::uint64_t launches_ = 0;
  std::uint64_t parks_ = 0;
  std::uint64_t finished_ = 0;
  // Batches published and not completed; those among them and the completed ones that were
  // published behind the last PARK.
  std::uint64_t running_ = 0;
  std::uint64_t behind_park_ = 0;
  // The last batch came within the linger of the one before, so that lingering pays.
  bool lingers_ = false;
  bool stopping_ = false;
  Time idle_since_{};
  std::optional<Time> park_requested_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_RESIDENCE_H_
