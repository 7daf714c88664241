#include "client/c_api_error.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace gpuos::internal {
namespace {

std::string& Sentence() {
  static thread_local std::string sentence;
  return sentence;
}

}  // namespace

int Report(const absl::Status& status) {
  if (!status.ok()) Sentence().assign(status.message().data(), status.message().size());
  return static_cast<int>(status.raw_code());
}

const char* LastError() { return Sentence().c_str(); }

absl::Status MustNotBeNull(const char* parameter) {
  return absl::InvalidArgumentError(absl::StrCat(parameter, " must not be NULL"));
}

}  // namespace gpuos::internal
