#include "daemon/control/connection_source.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/control/log.h"

namespace gpuos::control {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(100);

bool IsShortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

ConnectionSource::ConnectionSource(EventLoop* loop, int listening, Callback callback)
    : loop_(loop),
      listening_(listening),
      callback_(std::move(callback)),
      self_(std::make_shared<ConnectionSource*>(this)) {}

ConnectionSource::~ConnectionSource() {
  Stop();
  *self_ = nullptr;
}

absl::Status ConnectionSource::Start() {
  absl::StatusOr<EventLoop::WatchId> watch =
      loop_->Watch(listening_, EPOLLIN, [this](std::uint32_t) { AcceptAll(); });
  if (!watch.ok()) return watch.status();
  watch_ = *watch;
  return absl::OkStatus();
}

void ConnectionSource::Stop() {
  stopped_ = true;
  loop_->Unwatch(watch_, listening_);
}

void ConnectionSource::AcceptAll() {
  while (!stopped_) {
    link::UniqueFd connection(accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.get() < 0) {
      // Others (EAGAIN; a client that has left already) are nothing to act upon.
      if (IsShortage(errno)) Pause();
      return;
    }
    absl::StatusOr<PeerCredentials> peer = ReadPeerCredentials(connection.get());
    if (peer.ok()) callback_(std::move(connection), *peer);
  }
}

void ConnectionSource::Pause() {
  LogWarning("no descriptors left to accept a connection; raise the limit (LimitNOFILE)");
  loop_->Unwatch(watch_, listening_);
  loop_->After(kPause, [self = self_] {
    ConnectionSource* source = *self;
    if (source == nullptr || source->stopped_) return;
    if (absl::Status status = source->Start(); !status.ok()) source->Pause();
  });
}

}  // namespace gpuos::control
