#include "daemon/control/batch_ledger.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {

absl::StatusOr<std::uint64_t> BatchLedger::Begin() {
  absl::MutexLock lock(&mutex_);
  if (!ended_.ok()) return ended_;
  if (in_flight_.size() >= kMaxBatchesInFlight) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the session has ", in_flight_.size(),
                     " batches in flight, its limit; wait for some of them (WaitBatch)"));
  }
  in_flight_.insert(in_flight_.end(), ++last_);
  return last_;
}

void BatchLedger::Done(std::uint64_t value, const absl::Status& result, bool told) {
  std::vector<Answer> answers;
  {
    absl::MutexLock lock(&mutex_);
    if (in_flight_.erase(value) == 0) return;
    if (!result.ok() && !told) KeepFailure(value, result);
    answers = TakeReached();
  }
  for (Answer& answer : answers) answer.callback(std::move(answer.result));
}

absl::StatusOr<BatchLedger::WaitId> BatchLedger::Wait(std::uint64_t value, Callback callback) {
  absl::Status result;
  {
    absl::MutexLock lock(&mutex_);
    if (value == 0 || value > last_) {
      return absl::InvalidArgumentError(
          absl::StrCat("value ", value, " is not a batch of the session, which has submitted ",
                       last_, "; give a value that SubmitBatch returned"));
    }
    if (ended_.ok() && !IsReached(value)) {
      if (waiters_.size() >= kMaxWaits) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "the session has ", waiters_.size(), " WaitBatch calls waiting, its limit; end some"));
      }
      waiters_[next_wait_] = Waiter{.value = value, .callback = std::move(callback)};
      return next_wait_++;
    }
    result = ended_.ok() ? TakeFailure(value) : ended_;
  }
  callback(std::move(result));
  return WaitId{0};
}

void BatchLedger::CancelWait(WaitId id) {
  Waiter dropped;  // Destroyed without the lock.
  absl::MutexLock lock(&mutex_);
  auto found = waiters_.find(id);
  if (found == waiters_.end()) return;
  dropped = std::move(found->second);
  waiters_.erase(found);
}

void BatchLedger::End(const absl::Status& reason) {
  std::map<WaitId, Waiter> waiters;
  {
    absl::MutexLock lock(&mutex_);
    ended_ = reason;
    waiters.swap(waiters_);
  }
  for (auto& [id, waiter] : waiters) waiter.callback(reason);
}

BatchLedger::Counts BatchLedger::counts() const {
  absl::MutexLock lock(&mutex_);
  return Counts{.submitted = last_, .completed = last_ - in_flight_.size()};
}

bool BatchLedger::IsReached(std::uint64_t value) const {
  return in_flight_.empty() || *in_flight_.begin() > value;
}

void BatchLedger::KeepFailure(std::uint64_t value, const absl::Status& result) {
  failures_.emplace(value, result);
  if (failures_.size() <= kMaxKeptFailures) return;
  auto earliest = failures_.begin();
  if (dropped_.count++ == 0) {
    dropped_.first = earliest->first;
    dropped_.first_result = std::move(earliest->second);
  }
  dropped_.last = std::max(dropped_.last, earliest->first);
  failures_.erase(earliest);
}

absl::Status BatchLedger::TakeFailure(std::uint64_t value) {
  if (const auto told = told_.find(value); told != told_.end()) return told->second;
  absl::Status result = TakeDropped(value);
  const auto end = failures_.upper_bound(value);
  if (result.ok() && failures_.begin() != end) result = std::move(failures_.begin()->second);
  failures_.erase(failures_.begin(), end);
  if (!result.ok()) {
    told_.emplace(value, result);
    if (told_.size() > kMaxKeptFailures) told_.erase(told_.begin());
  }
  return result;
}

absl::Status BatchLedger::TakeDropped(std::uint64_t value) {
  if (dropped_.count == 0 || dropped_.first > value) return absl::OkStatus();
  const absl::Status result(
      dropped_.first_result.code(),
      absl::StrCat(dropped_.first_result.message(), " (the first of more than ", kMaxKeptFailures,
                   " failures; ask more often to see each)"));
  if (dropped_.last <= value) {
    dropped_ = Dropped();
  } else {
    // Which of the others come after `value` is no longer known; the next wait reports one again.
    dropped_.first = value + 1;
  }
  return result;
}

std::vector<BatchLedger::Answer> BatchLedger::TakeReached() {
  std::vector<Answer> answers;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (!IsReached(waiter->second.value)) {
      ++waiter;
      continue;
    }
    answers.push_back({std::move(waiter->second.callback), TakeFailure(waiter->second.value)});
    waiter = waiters_.erase(waiter);
  }
  return answers;
}

}  // namespace gpuos::control
