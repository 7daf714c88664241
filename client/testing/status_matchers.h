// GoogleMock matchers for absl::Status and absl::StatusOr.
#ifndef GPUOS_CLIENT_TESTING_STATUS_MATCHERS_H_
#define GPUOS_CLIENT_TESTING_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gpuos::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// The code, and a matcher of the sentence.
MATCHER_P2(StatusIs, code, sentence, "") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(sentence, std::string(status.message()), result_listener);
}

MATCHER(IsOk, "") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_STATUS_MATCHERS_H_
