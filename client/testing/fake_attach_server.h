// The attach socket of a FakeDaemon.
#ifndef GPUOS_CLIENT_TESTING_FAKE_ATTACH_SERVER_H_
#define GPUOS_CLIENT_TESTING_FAKE_ATTACH_SERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/internal/unique_fd.h"
#include "gpuos/v1/attach.pb.h"

namespace gpuos::testing {

// Owns the listening socket, its connections, and a thread that answers them. Thread-safe; Start
// comes first. Nothing blocks but Stop, which joins the thread.
class FakeAttachServer {
 public:
  // Decides what a message of a client is answered; called on the server's thread. The session is 0
  // for a connection that has not said hello.
  using Judge = std::function<absl::Status(std::uint64_t session, const v1::AttachClientMessage&)>;

  FakeAttachServer(std::string path, Judge judge);
  ~FakeAttachServer();

  absl::Status Start();
  void Stop();
  // Sends a descriptor to the session's client.
  absl::Status SendMemory(std::uint64_t session, std::uint64_t cookie, int descriptor);
  // Takes what a client sent; none if it did not.
  internal::UniqueFd TakeMemory(std::uint64_t session, std::uint64_t cookie);
  // Hangs up on every client. They may connect again.
  void HangUp();
  // Connections that are open and have said hello.
  int connections() const;

 private:
  struct Connection {
    internal::UniqueFd socket;
    std::uint64_t session = 0;
    std::map<std::uint64_t, internal::UniqueFd> arrived;
  };

  void Serve();
  void Accept();
  // False when the connection is over.
  bool Answer(Connection& connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Connection* Find(std::uint64_t session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const Judge judge_;
  internal::UniqueFd listener_;
  internal::UniqueFd wake_;
  std::thread thread_;
  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<int, Connection> connections_ ABSL_GUARDED_BY(mutex_);  // By descriptor.
};

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_FAKE_ATTACH_SERVER_H_
