#include "client/internal/fork_check.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gpuos::internal {
namespace {

constexpr absl::string_view kWayOut =
    "connect again in a process that is started by exec (Python: multiprocessing's \"spawn\"), or "
    "fork before the first connection";

}  // namespace

absl::Status ForkCheck::Check() const {
  if (!InChild()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the session belongs to process ", owner_,
                                                    " and this is its forked child ", ::getpid(),
                                                    ": ", kWayOut));
}

absl::Status ClaimGrpc() {
  static std::atomic<pid_t> owner{0};
  pid_t found = 0;
  if (owner.compare_exchange_strong(found, ::getpid()) || found == ::getpid()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "process ", ::getpid(), " was forked from process ", found,
      " after that had connected to gpuosd, and gRPC does not survive a fork: ", kWayOut));
}

}  // namespace gpuos::internal
