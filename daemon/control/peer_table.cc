#include "daemon/control/peer_table.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gpuos::control {

void PeerTable::Add(int fd, PeerCredentials peer) {
  absl::MutexLock lock(&mutex_);
  peers_[fd] = peer;
}

void PeerTable::Remove(int fd) {
  absl::MutexLock lock(&mutex_);
  peers_.erase(fd);
}

std::size_t PeerTable::size() const {
  absl::MutexLock lock(&mutex_);
  return peers_.size();
}

absl::StatusOr<PeerCredentials> PeerTable::Find(absl::string_view peer) const {
  absl::string_view number = peer;
  int fd = -1;
  if (absl::ConsumePrefix(&number, "fd:") && absl::SimpleAtoi(number, &fd)) {
    absl::MutexLock lock(&mutex_);
    auto found = peers_.find(fd);
    if (found != peers_.end()) return found->second;
  }
  return absl::UnauthenticatedError(
      absl::StrCat("connection ", peer, " has ended or is not one of gpuosd's unix socket"));
}

}  // namespace gpuos::control
