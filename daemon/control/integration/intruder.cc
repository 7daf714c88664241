// For tests: becomes another user, then tries to act on a session whose id and token it knows:
// intruder SOCKET SESSION TOKEN_IN_HEX. Exit code: 0 if both ways were refused with
// PERMISSION_DENIED, 77 if it cannot become another user here, else 1.
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/escaping.h"
#include "daemon/control/integration/raw_client.h"
#include "grpcpp/grpcpp.h"

int main(int argc, char** argv) {
  constexpr int kNobody = 65534;
  if (argc != 4) return 2;
  if (setgid(kNobody) != 0 || setuid(kNobody) != 0) return 77;
  gpuos::control::RawClient client(argv[1]);
  client.mutable_session()->set_id(std::strtoull(argv[2], nullptr, 10));
  client.mutable_session()->set_token(absl::HexStringToBytes(argv[3]));
  const bool attach_refused =
      client.Attach().code() == static_cast<int>(grpc::StatusCode::PERMISSION_DENIED);
  const bool call_refused = client.Close().error_code() == grpc::StatusCode::PERMISSION_DENIED;
  return attach_refused && call_refused ? 0 : 1;
}
