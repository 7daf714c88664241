// absl::Status on the wire: messages such as ExecutorResponse and AttachAck carry a google.rpc.Code
// and a sentence, in fields named `code` and `message`.
#ifndef GPUOS_DAEMON_LINK_STATUS_CODES_H_
#define GPUOS_DAEMON_LINK_STATUS_CODES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gpuos::link {

// The status that `code` and `message` say. A code that google.rpc.Code does not have becomes
// UNKNOWN with the number in the sentence, so that a peer's mistake never reads as success. Pure.
absl::Status ToStatus(std::int32_t code, absl::string_view message);

// Writes `status` into the `code` and `message` of a response; OK is code 0 and no sentence.
template <typename Response>
void SetStatus(const absl::Status& status, Response& response) {
  response.set_code(static_cast<std::int32_t>(status.code()));
  response.set_message(std::string(status.message()));
}

// What a response with `code` and `message` says.
template <typename Response>
absl::Status StatusOf(const Response& response) {
  return ToStatus(response.code(), response.message());
}

}  // namespace gpuos::link

#endif  // GPUOS_DAEMON_LINK_STATUS_CODES_H_
