#include "daemon/executor/watchdog.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace gpuos::executor {
namespace {

bool Progressed(const SignsOfLife& before, const SignsOfLife& now) {
  return before.progress != now.progress || before.batches_completed != now.batches_completed ||
         before.launches_finished != now.launches_finished;
}

}  // namespace

absl::Status Watchdog::Check(const SignsOfLife& signs, Time now) {
  const bool awaited = signs.batches_running > 0 || signs.leaving;
  const bool fresh = awaited && (!awaiting_ || Progressed(last_progress_, signs));
  awaiting_ = awaited;
  if (!awaited || fresh) {
    stalled_ = Duration(0);
    last_check_ = now;
    last_progress_ = signs;
    return absl::OkStatus();
  }
  stalled_ += std::min<Duration>(now - last_check_, limit_ / 4);
  last_check_ = now;
  return stalled_ < limit_ ? absl::OkStatus() : Sentence(signs);
}

absl::Status Watchdog::Sentence(const SignsOfLife& signs) const {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit_).count();
  const char* cause =
      signs.clock_ns == last_progress_.clock_ns
          ? "its scheduler stands still: the worker was not started or has died"
          : (signs.batches_running > 0 ? "its scheduler runs: an operator does not end"
                                       : "its scheduler runs, but the worker does not leave");
  return absl::DeadlineExceededError(absl::StrCat("the worker finished nothing for ", ms,
                                                  " ms with ", signs.batches_running,
                                                  " batches published; ", cause));
}

}  // namespace gpuos::executor
