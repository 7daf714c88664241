#include "daemon/control/sessions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/control/limits.h"
#include "daemon/control/token.h"

namespace gpuos::control {
namespace {

absl::Status CheckClientName(const std::string& name) {
  if (name.size() > kMaxClientNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("client_name has ", name.size(),
                                                   " bytes, more than ", kMaxClientNameBytes,
                                                   "; give a shorter one"));
  }
  // It is shown on terminals. Bytes from 0x80 are UTF-8, which Protobuf has checked.
  const bool printable = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isprint(c) || c >= 0x80;
  });
  if (printable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "client_name has characters that are not printable; leave them out");
}

absl::Status NoSession(std::uint64_t id) {
  return absl::NotFoundError(
      absl::StrCat("session ", id, " is not open: it never was, or it has ended; open another"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Session>> Sessions::Add(PeerCredentials owner,
                                                       const std::string& device,
                                                       const std::string& client_name,
                                                       ExecutorClient* executor) {
  if (absl::Status status = CheckClientName(client_name); !status.ok()) return status;
  absl::StatusOr<std::string> token = MakeToken();
  if (!token.ok()) return token.status();
  absl::MutexLock lock(&mutex_);
  if (sessions_.size() >= kMaxSessions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("gpuosd has ", sessions_.size(), " sessions, its limit; close some"));
  }
  const std::uint64_t id = next_id_++;
  auto session = std::make_shared<Session>(Session::Identity{.id = id,
                                                             .token = *std::move(token),
                                                             .owner = owner,
                                                             .device = device,
                                                             .client_name = client_name,
                                                             .opened = absl::Now()},
                                           executor);
  sessions_[id] = session;
  return session;
}

absl::StatusOr<std::shared_ptr<Session>> Sessions::Find(std::uint64_t id, absl::string_view token,
                                                        uid_t uid) const {
  const std::shared_ptr<Session> session = Get(id);
  if (session == nullptr || !session->opened()) return NoSession(id);
  if (!TokensEqual(session->identity().token, token)) {
    return absl::UnauthenticatedError(absl::StrCat("session.token is not that of session ", id,
                                                   "; use the one that OpenSession returned"));
  }
  if (session->identity().owner.uid != uid) {
    return absl::PermissionDeniedError(absl::StrCat("session ", id, " belongs to uid ",
                                                    session->identity().owner.uid, ", not to ", uid,
                                                    "; open a session of your own"));
  }
  return session;
}

std::shared_ptr<Session> Sessions::Get(std::uint64_t id) const {
  absl::MutexLock lock(&mutex_);
  auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void Sessions::Remove(std::uint64_t id) {
  absl::MutexLock lock(&mutex_);
  sessions_.erase(id);
}

std::vector<std::shared_ptr<Session>> Sessions::all() const {
  std::vector<std::shared_ptr<Session>> sessions;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, session] : sessions_) sessions.push_back(session);
  return sessions;
}

std::size_t Sessions::count() const {
  absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

}  // namespace gpuos::control
