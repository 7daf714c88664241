#include "daemon/control/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gpuos::control {
namespace {

constexpr EventLoop::WatchId kWakeId = 0;

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create() {
  link::UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (epoll.get() < 0) return absl::ErrnoToStatus(errno, "cannot create an epoll descriptor");
  link::UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) return absl::ErrnoToStatus(errno, "cannot create an eventfd");
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kWakeId;
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return absl::ErrnoToStatus(errno, "cannot watch the event loop's eventfd");
  }
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll), std::move(wake)));
}

EventLoop::EventLoop(link::UniqueFd epoll, link::UniqueFd wake)
    : epoll_(std::move(epoll)), wake_(std::move(wake)) {}

absl::StatusOr<EventLoop::WatchId> EventLoop::Watch(int fd, std::uint32_t events,
                                                    Callback callback) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = next_watch_;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return absl::ErrnoToStatus(errno, "cannot watch a descriptor");
  }
  watches_[next_watch_] = std::make_shared<Callback>(std::move(callback));
  return next_watch_++;
}

void EventLoop::Unwatch(WatchId id, int fd) {
  if (watches_.erase(id) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::After(absl::Duration delay, std::function<void()> work) {
  timers_.emplace(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(delay),
                  std::move(work));
}

void EventLoop::Post(std::function<void()> work) {
  {
    absl::MutexLock lock(&mutex_);
    posted_.push_back(std::move(work));
  }
  eventfd_write(wake_.get(), 1);
}

void EventLoop::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  eventfd_write(wake_.get(), 1);
}

void EventLoop::Run() {
  std::array<epoll_event, 64> ready;
  for (;;) {
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_) return;
    }
    const int count = epoll_wait(epoll_.get(), ready.data(), ready.size(), Timeout());
    for (int i = 0; i < count; ++i) Dispatch(ready[i].data.u64, ready[i].events);
    RunTimers();
  }
}

void EventLoop::Dispatch(WatchId id, std::uint32_t events) {
  if (id == kWakeId) return RunPosted();
  auto found = watches_.find(id);
  if (found == watches_.end()) return;
  const std::shared_ptr<Callback> callback = found->second;
  (*callback)(events);
}

void EventLoop::RunPosted() {
  eventfd_t ignored;
  eventfd_read(wake_.get(), &ignored);
  std::vector<std::function<void()>> work;
  {
    absl::MutexLock lock(&mutex_);
    work.swap(posted_);
  }
  for (auto& item : work) item();
}

void EventLoop::RunTimers() {
  const auto now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const std::function<void()> work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }
}

int EventLoop::Timeout() const {
  if (timers_.empty()) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      timers_.begin()->first - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 60000));
}

}  // namespace gpuos::control
