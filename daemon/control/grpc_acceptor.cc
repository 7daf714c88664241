#include "daemon/control/grpc_acceptor.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/control/log.h"

namespace gpuos::control {
namespace {

// Numbers of gRPC's descriptors start here and go around before the process's limit, at the latest
// at kLastNumber, so that the kernel's table of descriptors stays small.
constexpr int kFirstNumber = 256;
constexpr int kLastNumber = 16384;

int NumberLimit() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kLastNumber));
}

// Moves a descriptor to the first free number from `lowest` on.
link::UniqueFd Renumber(link::UniqueFd fd, int lowest) {
  link::UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest));
  return moved.get() >= 0 ? std::move(moved) : std::move(fd);
}

void AppendFrame(std::string* out, std::uint8_t type, const std::string& payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  const std::uint8_t header[9] = {static_cast<std::uint8_t>(size >> 16),
                                  static_cast<std::uint8_t>(size >> 8),
                                  static_cast<std::uint8_t>(size),
                                  type,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0};
  out->append(reinterpret_cast<const char*>(header), sizeof(header));
  out->append(payload);
}

// HTTP/2 (RFC 9113): the server's SETTINGS, then GOAWAY with ENHANCE_YOUR_CALM and the sentence.
void Refuse(int connection, const std::string& sentence) {
  constexpr std::uint8_t kSettings = 4;
  constexpr std::uint8_t kGoAway = 7;
  std::string bytes;
  AppendFrame(&bytes, kSettings, "");
  AppendFrame(&bytes, kGoAway, std::string("\0\0\0\0\0\0\0\x0b", 8) + sentence);
  // A client that does not take a hundred bytes at once only loses the sentence.
  (void)send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

GrpcAcceptor::GrpcAcceptor(EventLoop* loop, PeerTable* peers, Options options)
    : loop_(loop),
      peers_(peers),
      options_(std::move(options)),
      next_number_(kFirstNumber),
      source_(loop, options_.listening, [this](link::UniqueFd connection, PeerCredentials peer) {
        Accept(std::move(connection), peer);
      }) {}

GrpcAcceptor::~GrpcAcceptor() {
  while (!connections_.empty()) Forget(connections_.begin()->first);
}

void GrpcAcceptor::Accept(link::UniqueFd connection, PeerCredentials peer) {
  if (connections_.size() >= options_.max_connections) {
    LogWarning("refused a connection of pid ", peer.pid, ": ", connections_.size(), " are open");
    return Refuse(connection.get(),
                  absl::StrCat("gpuosd has ", connections_.size(),
                               " connections, its limit; close some and try again"));
  }
  connection = Renumber(std::move(connection), next_number_);
  const int fd = connection.get();
  next_number_ = fd + 1 < NumberLimit() ? fd + 1 : kFirstNumber;

  link::UniqueFd duplicate(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  absl::StatusOr<EventLoop::WatchId> watch = loop_->Watch(
      duplicate.get(), EPOLLRDHUP | EPOLLHUP, [this, fd](std::uint32_t) { Forget(fd); });
  if (!watch.ok()) {
    LogWarning("dropped a connection of pid ", peer.pid, ": ", watch.status().ToString());
    return;
  }
  // gRPC may have closed an earlier descriptor of this number before we heard of it.
  Forget(fd);
  peers_->Add(fd, peer);
  connections_[fd] = Connection{.duplicate = std::move(duplicate), .watch = *watch};
  options_.hand_over(connection.release());
}

void GrpcAcceptor::Forget(int fd) {
  auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  loop_->Unwatch(found->second.watch, found->second.duplicate.get());
  peers_->Remove(fd);
  connections_.erase(found);
}

}  // namespace gpuos::control
