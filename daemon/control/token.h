// The secret by which a client shows that a session is its own.
#ifndef GPUOS_DAEMON_CONTROL_TOKEN_H_
#define GPUOS_DAEMON_CONTROL_TOKEN_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpuos::control {

inline constexpr std::size_t kTokenBytes = 16;

// 16 random bytes of the kernel (getrandom). Blocks only before the kernel has its first entropy.
absl::StatusOr<std::string> MakeToken();

// Compares in a time that does not depend on where they differ.
bool TokensEqual(absl::string_view token, absl::string_view shown);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_TOKEN_H_
