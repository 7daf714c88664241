#include "client/internal/fork_check.h"

#include "absl/strings/str_cat.h"

namespace gpuos::internal {

absl::Status ForkCheck::Check() const {
  if (!InChild()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the session belongs to process ", owner_,
                                                    " and this is its forked child ", ::getpid(),
                                                    ": connect again in the child"));
}

}  // namespace gpuos::internal
