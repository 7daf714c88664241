// Where gpuosd listens, as a client is told.
#ifndef GPUOS_CLIENT_INTERNAL_TARGET_H_
#define GPUOS_CLIENT_INTERNAL_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpuos::internal {

inline constexpr char kTargetVariable[] = "GPUOS_TARGET";
inline constexpr char kDefaultTarget[] = "unix:///run/gpuosd/gpuosd.sock";

// The path of the socket that `target` means: "unix:///path", "unix:path" or a path. Empty means
// $GPUOS_TARGET, else kDefaultTarget. INVALID_ARGUMENT for anything else and for a path that no
// socket can have.
absl::StatusOr<std::string> ResolveSocketPath(absl::string_view target);

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_TARGET_H_
