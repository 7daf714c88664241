#include "daemon/executor/session.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gpuos::executor {

absl::Status Session::CheckNewSegment(std::uint64_t segment) const {
  if (segments_.count(segment) > 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("segment is ", segment, ", which session ", id_, " holds already"));
  }
  if (segments_.size() >= limits_.segments) {
    return absl::ResourceExhaustedError(absl::StrCat("session ", id_, " holds ", segments_.size(),
                                                     " segments, the limit is ", limits_.segments,
                                                     "; release segments that are not needed"));
  }
  return absl::OkStatus();
}

void Session::AddSegment(std::uint64_t segment, const device::Segment& imported) {
  segments_.emplace(segment, std::make_shared<const device::Segment>(imported));
  counters_.segment_bytes += imported.size;
}

absl::StatusOr<HeldSegment> Session::TakeSegment(std::uint64_t segment) {
  const auto found = segments_.find(segment);
  if (found == segments_.end()) {
    return absl::NotFoundError(
        absl::StrCat("segment is ", segment, ", which session ", id_, " does not hold"));
  }
  HeldSegment held = std::move(found->second);
  segments_.erase(found);
  counters_.segment_bytes -= held->size;
  return held;
}

std::vector<HeldSegment> Session::TakeAllSegments() {
  std::vector<HeldSegment> all;
  all.reserve(segments_.size());
  for (auto& [id, held] : segments_) all.push_back(std::move(held));
  segments_.clear();
  counters_.segment_bytes = 0;
  return all;
}

absl::Status Session::CheckNewProgram(std::uint64_t program) const {
  if (programs_.count(program) > 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("program_id is ", program, ", which session ", id_, " holds already"));
  }
  if (programs_.size() >= limits_.programs) {
    return absl::ResourceExhaustedError(absl::StrCat("session ", id_, " holds ", programs_.size(),
                                                     " programs, the limit is ", limits_.programs,
                                                     "; release programs that are not needed"));
  }
  return absl::OkStatus();
}

void Session::AddProgram(std::uint64_t program, std::shared_ptr<const LoadedProgram> loaded) {
  programs_.emplace(program, std::move(loaded));
}

absl::StatusOr<std::shared_ptr<const LoadedProgram>> Session::TakeProgram(std::uint64_t program) {
  const auto found = programs_.find(program);
  if (found == programs_.end()) {
    return absl::NotFoundError(
        absl::StrCat("program_id is ", program, ", which session ", id_, " does not hold"));
  }
  std::shared_ptr<const LoadedProgram> loaded = std::move(found->second);
  programs_.erase(found);
  return loaded;
}

absl::Status Session::Submit(Ticket ticket, std::uint64_t program,
                             absl::Span<const Binding> bindings) {
  const auto found = programs_.find(program);
  if (found == programs_.end()) {
    return absl::NotFoundError(
        absl::StrCat("program_id is ", program, ", which session ", id_, " does not hold"));
  }
  const std::size_t unanswered = waiting_.size() + published_.size();
  if (unanswered >= limits_.unanswered_batches ||
      waiting_bindings_ + bindings.size() > limits_.waiting_bindings) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "session ", id_, " has ", unanswered, " batches unfinished and ", waiting_bindings_,
        " bindings waiting, the limits are ", limits_.unanswered_batches, " and ",
        limits_.waiting_bindings, "; wait for some of them"));
  }
  const auto find = [this](std::uint64_t segment) -> const device::Segment* {
    const auto held = segments_.find(segment);
    return held == segments_.end() ? nullptr : held->second.get();
  };
  absl::StatusOr<CheckedBatch> checked = CheckBindings(found->second->slots, bindings, find);
  if (!checked.ok()) return std::move(checked).status();

  std::vector<HeldSegment> segments;
  segments.reserve(checked->segments().size());
  for (const std::uint64_t segment : checked->segments()) segments.push_back(segments_.at(segment));
  waiting_.push_back(std::make_unique<Batch>(Batch{.ticket = ticket,
                                                   .session = id_,
                                                   .checked = *std::move(checked),
                                                   .program = found->second,
                                                   .segments = std::move(segments),
                                                   .completed = false,
                                                   .result = absl::OkStatus()}));
  waiting_bindings_ += bindings.size();
  ++counters_.batches_submitted;
  return absl::OkStatus();
}

bool Session::NextConflicts() {
  if (conflict_ != nullptr && !conflict_->completed) return true;
  conflict_ = nullptr;
  const Footprint& footprint = waiting_.front()->checked.footprint();
  // The youngest first: it is the one that completes last, so most often one look is enough.
  for (auto batch = published_.rbegin(); batch != published_.rend(); ++batch) {
    if (!(*batch)->completed && Conflict(footprint, (*batch)->checked.footprint())) {
      conflict_ = batch->get();
      return true;
    }
  }
  return false;
}

Batch& Session::TakeNext() {
  waiting_bindings_ -= waiting_.front()->checked.addresses().size();
  published_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  return *published_.back();
}

void Session::Complete(Batch& batch, absl::Status result) {
  batch.completed = true;
  batch.result = std::move(result);
  batch.program.reset();
  batch.segments.clear();
  if (conflict_ == &batch) conflict_ = nullptr;
  ++counters_.batches_completed;
}

void Session::TakeAnswers(std::vector<Finished>& finished) {
  while (!published_.empty() && published_.front()->completed) {
    Batch& batch = *published_.front();
    finished.push_back({.ticket = batch.ticket, .status = std::move(batch.result)});
    published_.pop_front();
  }
}

void Session::AbortWaiting(const absl::Status& why, std::vector<Finished>& finished) {
  for (const std::unique_ptr<Batch>& batch : waiting_) {
    finished.push_back({.ticket = batch->ticket, .status = why});
  }
  waiting_.clear();
  waiting_bindings_ = 0;
  conflict_ = nullptr;
}

}  // namespace gpuos::executor
