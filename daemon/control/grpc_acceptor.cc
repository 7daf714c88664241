#include "daemon/control/grpc_acceptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/control/log.h"

namespace gpuos::control {
namespace {

// Numbers of gRPC's descriptors start here and go around before the process's limit, at the latest
// at kLastNumber, so that the kernel's table of descriptors stays small.
constexpr int kFirstNumber = 256;
constexpr int kLastNumber = 16384;
constexpr std::size_t kFirstSweep = 64;

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

// 0 if there is no such descriptor.
ino_t InodeOf(int fd) {
  struct stat about = {};
  return fstat(fd, &about) == 0 ? about.st_ino : 0;
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
    : peers_(peers),
      options_(std::move(options)),
      sweep_at_(kFirstSweep),
      next_number_(kFirstNumber),
      source_(loop, options_.listening, [this](link::UniqueFd connection, PeerCredentials peer) {
        Accept(std::move(connection), peer);
      }) {}

void GrpcAcceptor::Accept(link::UniqueFd connection, PeerCredentials peer) {
  if (connections_.size() >= std::min(sweep_at_, options_.max_connections)) Sweep();
  if (connections_.size() >= options_.max_connections) {
    LogWarning("refused a connection of pid ", peer.pid, ": ", connections_.size(), " are open");
    return Refuse(connection.get(),
                  absl::StrCat("gpuosd has ", connections_.size(),
                               " connections, its limit; close some and try again"));
  }
  connection = Renumber(std::move(connection), next_number_);
  const int fd = connection.release();
  next_number_ = fd + 1 < NumberLimit() ? fd + 1 : kFirstNumber;
  connections_[fd] = InodeOf(fd);
  peers_->Add(fd, peer);
  options_.hand_over(fd);
}

void GrpcAcceptor::Sweep() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (InodeOf(connection->first) == connection->second) {
      ++connection;
      continue;
    }
    peers_->Remove(connection->first);
    connection = connections_.erase(connection);
  }
  sweep_at_ = std::max(kFirstSweep, 2 * connections_.size());
}

}  // namespace gpuos::control
