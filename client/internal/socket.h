// Connecting to a unix socket of gpuosd, with errors that say what to do.
#ifndef GPUOS_CLIENT_INTERNAL_SOCKET_H_
#define GPUOS_CLIENT_INTERNAL_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/internal/unique_fd.h"

namespace gpuos::internal {

// Connects a socket of `type` (SOCK_STREAM, SOCK_SEQPACKET) to `path`; close-on-exec, blocking.
// Blocks until `deadline` at most (the listener's backlog may be full). Errors as ConnectError.
absl::StatusOr<UniqueFd> ConnectSocket(const std::string& path, int type, absl::Time deadline);

// The sentence for an errno of connect(2) to `path`: PERMISSION_DENIED for EACCES and EPERM, else
// UNAVAILABLE.
absl::Status ConnectError(absl::string_view path, int error);

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_SOCKET_H_
