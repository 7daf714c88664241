// One thread that waits for many descriptors: epoll, timers, and work posted by other threads.
#ifndef GPUOS_DAEMON_CONTROL_EVENT_LOOP_H_
#define GPUOS_DAEMON_CONTROL_EVENT_LOOP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// Calls back, on the thread that runs Run(), when descriptors become ready, at set times, and for
// posted work. Callbacks must not block for long: everything else on the loop waits meanwhile.
//
// Ownership: descriptors stay the caller's, who calls Unwatch before closing one. Callbacks are
// destroyed when unwatched, run (posted work, timers), or with the loop.
// Thread-safety: Post and Stop from any thread; the others on the loop's thread, or before Run().
class EventLoop {
 public:
  using WatchId = std::uint64_t;
  using Callback = std::function<void(std::uint32_t events)>;

  // INTERNAL if the kernel has no descriptors left.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create();

  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `callback` while any of `events` (EPOLLIN, ...) holds for `fd`.
  absl::StatusOr<WatchId> Watch(int fd, std::uint32_t events, Callback callback);
  // From here on the callback is not called, even for an event that was already fetched.
  void Unwatch(WatchId id, int fd);

  // Calls `work` once, `delay` from now.
  void After(absl::Duration delay, std::function<void()> work);

  // Calls `work` on the loop's thread, soon, after work that was posted earlier. What is posted
  // after Stop is destroyed with the loop.
  void Post(std::function<void()> work);

  // Runs until Stop. At most once.
  void Run();
  void Stop();

 private:
  EventLoop(link::UniqueFd epoll, link::UniqueFd wake);

  void Dispatch(WatchId id, std::uint32_t events);
  void RunPosted();
  void RunTimers();
  // Milliseconds until the first timer, -1 if there is none.
  int Timeout() const;

  const link::UniqueFd epoll_;
  const link::UniqueFd wake_;  // An eventfd: posted work or Stop.

  // Only on the loop's thread. shared_ptr: a callback may unwatch itself while it runs.
  std::map<WatchId, std::shared_ptr<Callback>> watches_;
  WatchId next_watch_ = 1;
  // The steady clock: a step of the wall clock must not fire or delay a deadline.
  std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> timers_;

  absl::Mutex mutex_;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_EVENT_LOOP_H_
