// gpuosd without devices, inside of a test.
#ifndef GPUOS_CLIENT_TESTING_FAKE_DAEMON_H_
#define GPUOS_CLIENT_TESTING_FAKE_DAEMON_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/testing/fake_attach_server.h"
#include "client/testing/fake_services.h"
#include "client/testing/fake_state.h"
#include "client/testing/temp_directory.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos::testing {

// Speaks the whole wire contract over two real sockets in a directory of its own: sessions,
// segments of real memory, programs, batches. It checks handles and little else, runs batches
// through a function that the test gives (state().SetRunner), and does what the test's script says
// (state().FailNext, state().HoldBatches, HangUp, Stop).
//
// Owns its threads. Thread-safe, but for Stop and the destructor, which come last and block until
// calls in flight have been cancelled.
class FakeDaemon {
 public:
  struct Options {
    std::string device = "host:0";
    std::string device_uuid;
    v1::GetStatusResponse status;
    v1::ListClientsResponse clients;
    v1::ListOperatorsResponse operators;
  };

  static absl::StatusOr<std::unique_ptr<FakeDaemon>> Start(Options options);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  // What a client connects to, and its path.
  std::string target() const { return "unix://" + socket_path(); }
  std::string socket_path() const { return directory_.File("gpuosd.sock"); }
  FakeState& state() { return state_; }
  FakeAttachServer& attach() { return *attach_; }
  // Ends every session as a daemon does: hangs up on the attach connections.
  void HangUp() { attach_->HangUp(); }
  // Dies: sockets are gone, calls in flight are cancelled.
  void Stop();

 private:
  explicit FakeDaemon(Options options);
  absl::Status Listen();

  TempDirectory directory_;
  FakeState state_;
  std::unique_ptr<FakeAttachServer> attach_;
  std::unique_ptr<FakeControl> control_;
  FakeOperators operators_{&state_};
  FakeAdmin admin_{&state_};
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_FAKE_DAEMON_H_
