// For tests: attaches a session, forks a child that holds all descriptors for so many seconds, and
// ends: forking_client SOCKET SECONDS.
#include <unistd.h>

#include <cstdlib>

#include "daemon/control/integration/raw_client.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  gpuos::control::RawClient client(argv[1]);
  if (!client.OpenAndAttach().ok()) return 1;
  const pid_t child = fork();
  if (child == 0) {
    // No copy of gRPC that works, only its descriptors.
    sleep(static_cast<unsigned>(std::atoi(argv[2])));
    _exit(0);
  }
  _exit(child > 0 ? 0 : 1);
}
