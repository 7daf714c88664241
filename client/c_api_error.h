// How the C ABI reports: a code, and a sentence a thread.
#ifndef GPUOS_CLIENT_C_API_ERROR_H_
#define GPUOS_CLIENT_C_API_ERROR_H_

#include <exception>
#include <new>

#include "absl/status/status.h"

namespace gpuos::internal {

// Remembers the sentence of a failure for gpuos_last_error of this thread and returns its code; 0
// for OK, which leaves the sentence as it is.
int Report(const absl::Status& status);
// What Report remembered last in this thread.
const char* LastError();

// Runs `body`, which returns an absl::Status, and lets no exception cross the C boundary.
template <typename Body>
int Guarded(Body body) noexcept {
  try {
    return Report(body());
  } catch (const std::bad_alloc&) {
    return Report(absl::ResourceExhaustedError("this process has no memory left for the call"));
  } catch (const std::exception& error) {
    return Report(absl::InternalError(error.what()));
  }
}

// INVALID_ARGUMENT that names a parameter which must not be NULL.
absl::Status MustNotBeNull(const char* parameter);

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_C_API_ERROR_H_
