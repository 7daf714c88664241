#include "client/internal/target.h"

#include <sys/un.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gpuos::internal {
namespace {

// sun_path holds a terminating zero too.
constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

std::string OrDefault(absl::string_view target) {
  if (!target.empty()) return std::string(target);
  const char* variable = std::getenv(kTargetVariable);
  return variable != nullptr && *variable != '\0' ? variable : kDefaultTarget;
}

// A colon before any slash is a host and a port, or a scheme that is not taken.
bool LooksLikeAPath(absl::string_view target) {
  return absl::StrContains(target, '/') ? target.find(':') > target.find('/')
                                        : !absl::StrContains(target, ':');
}

}  // namespace

absl::StatusOr<std::string> ResolveSocketPath(absl::string_view target) {
  const std::string named = OrDefault(target);
  absl::string_view path = named;
  const bool unix_scheme = absl::ConsumePrefix(&path, "unix:");
  if (unix_scheme && absl::StartsWith(path, "//")) path.remove_prefix(2);
  if (path.empty() || (!unix_scheme && !LooksLikeAPath(path))) {
    return absl::InvalidArgumentError(
        absl::StrCat("target \"", named,
                     "\" is not the address of a unix socket: write unix:///path/of/gpuosd.sock or "
                     "the path alone"));
  }
  if (path.size() > kLongestPath) {
    return absl::InvalidArgumentError(
        absl::StrCat("target \"", named, "\" is a path of ", path.size(),
                     " bytes and a unix socket can have at most ", kLongestPath,
                     ": start gpuosd with a shorter --socket"));
  }
  return std::string(path);
}

}  // namespace gpuos::internal
