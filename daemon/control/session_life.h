// Opening, attaching and ending sessions.
#ifndef GPUOS_DAEMON_CONTROL_SESSION_LIFE_H_
#define GPUOS_DAEMON_CONTROL_SESSION_LIFE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/control/attach_channel.h"
#include "daemon/control/attach_server.h"
#include "daemon/control/executor_client.h"
#include "daemon/control/later.h"
#include "daemon/control/peer.h"
#include "daemon/control/reply.h"
#include "daemon/control/session.h"
#include "daemon/control/sessions.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/attach.pb.h"

namespace gpuos::control {

// Moves sessions through their states and tells the executor. A session ends by CloseSession, when
// its attach connection ends, or when none came within kAttachDeadline. Ending it: nobody finds it
// any more; the executor finishes what runs, drops what does not, lets its memory go, and answers;
// then what gpuosd holds is let go and waiting calls are answered.
//
// Ownership: the registry outlives it, and replies that are still to come hold it by shared
// pointers of sessions only. Thread-safe. Does not block.
class SessionLife : public AttachDelegate {
 public:
  SessionLife(Sessions* sessions, Later later);

  // Adds a session and opens it in `executor`; its attach deadline then runs. A session whose
  // caller has gone by then is ended.
  void Open(PeerCredentials owner, const std::string& device, const std::string& client_name,
            ExecutorClient* executor, Reply<std::shared_ptr<Session>> reply);

  // Ends the session; `ended` is called once all of it has been let go. `why` is half a sentence. A
  // session that is ending already: `ended` is called at once.
  void End(const std::shared_ptr<Session>& session, const std::string& why,
           std::function<void()> ended);

  // AttachDelegate.
  absl::Status Attach(const v1::AttachHello& hello, PeerCredentials peer,
                      std::shared_ptr<AttachChannel> channel) override;
  absl::Status KeepDescriptor(std::uint64_t session, std::uint64_t cookie,
                              link::UniqueFd descriptor) override;
  void Detached(std::uint64_t session, const std::string& why) override;

 private:
  void Opened(const std::shared_ptr<Session>& session, const absl::Status& result,
              const Reply<std::shared_ptr<Session>>& reply);
  void StartAttachDeadline(const std::shared_ptr<Session>& session);

  Sessions* const sessions_;
  const Later later_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SESSION_LIFE_H_
