#include "daemon/control/token.h"

#include <sys/random.h>

#include <cerrno>

#include "absl/status/status.h"

namespace gpuos::control {

absl::StatusOr<std::string> MakeToken() {
  std::string token(kTokenBytes, '\0');
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    return absl::ErrnoToStatus(errno, "the kernel gave no random bytes for a session's token");
  }
  return token;
}

bool TokensEqual(absl::string_view token, absl::string_view shown) {
  if (token.size() != shown.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (token[i] ^ shown[i]));
  }
  return difference == 0;
}

}  // namespace gpuos::control
