#include "daemon/link/status_codes.h"

#include "absl/strings/str_cat.h"

namespace gpuos::link {

absl::Status ToStatus(std::int32_t code, absl::string_view message) {
  constexpr auto kFirst = static_cast<std::int32_t>(absl::StatusCode::kOk);
  constexpr auto kLast = static_cast<std::int32_t>(absl::StatusCode::kUnauthenticated);
  if (code < kFirst || code > kLast) {
    return absl::UnknownError(absl::StrCat("status code ", code, ": ", message));
  }
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

}  // namespace gpuos::link
