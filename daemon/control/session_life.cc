#include "daemon/control/session_life.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"
#include "daemon/control/log.h"
#include "daemon/control/memory_file.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {

SessionLife::SessionLife(Sessions* sessions, Later later)
    : sessions_(sessions), later_(std::move(later)) {}

void SessionLife::Open(PeerCredentials owner, const std::string& device,
                       const std::string& client_name, ExecutorClient* executor,
                       Reply<std::shared_ptr<Session>> reply) {
  absl::StatusOr<std::shared_ptr<Session>> session =
      sessions_->Add(owner, device, client_name, executor);
  if (!session.ok()) {
    reply(session.status());
    return;
  }
  v1::ExecutorRequest request;
  request.mutable_open_session()->set_session((*session)->id());
  executor->Call(std::move(request), nullptr,
                 [this, session = *session,
                  reply = std::move(reply)](const absl::StatusOr<v1::ExecutorResponse>& response) {
                   Opened(session, response.status(), reply);
                 });
}

void SessionLife::Opened(const std::shared_ptr<Session>& session, const absl::Status& result,
                         const Reply<std::shared_ptr<Session>>& reply) {
  if (!result.ok()) {
    sessions_->Remove(session->id());
    session->End();
    session->Dispose(result);
    // What was lost is the executor, not work of this client: it only has to ask again.
    reply(absl::IsAborted(result) ? absl::UnavailableError(result.message()) : result);
    return;
  }
  session->SetOpened();
  const Session::Identity& identity = session->identity();
  LogInfo("session ", identity.id, " opened on ", identity.device, " by pid ", identity.owner.pid,
          " (uid ", identity.owner.uid, ", \"", identity.client_name, "\")");
  if (!reply(session)) return End(session, "its client left while it was opened", [] {});
  StartAttachDeadline(session);
}

void SessionLife::StartAttachDeadline(const std::shared_ptr<Session>& session) {
  later_(kAttachDeadline, [this, weak = std::weak_ptr<Session>(session)] {
    const std::shared_ptr<Session> late = weak.lock();
    if (late == nullptr || late->attached()) return;
    End(late, absl::StrCat("it was not attached within ", absl::FormatDuration(kAttachDeadline)),
        [] {});
  });
}

void SessionLife::End(const std::shared_ptr<Session>& session, const std::string& why,
                      std::function<void()> ended) {
  if (!session->End()) return ended();
  sessions_->Remove(session->id());
  LogInfo("session ", session->id(), " ends: ", why);
  v1::ExecutorRequest request;
  request.mutable_close_session()->set_session(session->id());
  session->executor().Call(
      std::move(request), nullptr,
      [session, ended = std::move(ended)](const absl::StatusOr<v1::ExecutorResponse>& response) {
        // A lost executor, or its replacement that never knew the session, holds nothing of it.
        if (!response.ok()) {
          LogInfo("session ", session->id(), ": ", response.status().ToString());
        }
        session->Dispose(absl::AbortedError(
            absl::StrCat("session ", session->id(), " has ended; open another")));
        ended();
      });
}

absl::Status SessionLife::Attach(const v1::AttachHello& hello, PeerCredentials peer,
                                 std::shared_ptr<AttachChannel> channel) {
  absl::StatusOr<std::shared_ptr<Session>> session =
      sessions_->Find(hello.session(), hello.token(), peer.uid);
  if (!session.ok()) return session.status();
  return (*session)->Attach(std::move(channel));
}

absl::Status SessionLife::KeepDescriptor(std::uint64_t session, std::uint64_t cookie,
                                         link::UniqueFd descriptor) {
  const std::shared_ptr<Session> found = sessions_->Get(session);
  if (found == nullptr) return absl::NotFoundError(absl::StrCat("session ", session, " has ended"));
  // Nothing else is kept: a pipe or a file of some file system could block whoever closes it.
  if (absl::Status status = CheckMemoryFile(descriptor.get()); !status.ok()) return status;
  return found->descriptors().Keep(cookie, std::move(descriptor));
}

void SessionLife::Detached(std::uint64_t session, const std::string& why) {
  const std::shared_ptr<Session> found = sessions_->Get(session);
  if (found != nullptr) End(found, why, [] {});
}

}  // namespace gpuos::control
