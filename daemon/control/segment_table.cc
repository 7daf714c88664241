#include "daemon/control/segment_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {
namespace {

absl::Status NoSegment(std::uint64_t id) {
  return absl::NotFoundError(
      absl::StrCat("segment ", id,
                   " is not a segment of this session; name one that CreateSegment or "
                   "RegisterSegment returned and that was not released"));
}

}  // namespace

absl::Status SegmentTable::Add(std::uint64_t id, SegmentSource source) {
  absl::MutexLock lock(&mutex_);
  if (segments_.size() >= kMaxSegmentsOfSession) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the session has ", segments_.size(), " segments, its limit; release some"));
  }
  segments_[id].source = std::move(source);
  return absl::OkStatus();
}

void SegmentTable::SetLive(std::uint64_t id, std::uint64_t size) {
  absl::MutexLock lock(&mutex_);
  auto found = segments_.find(id);
  if (found == segments_.end()) return;
  found->second.state = State::kLive;
  found->second.size = size;
}

void SegmentTable::SetLost(std::uint64_t id, const std::string& why) {
  absl::MutexLock lock(&mutex_);
  auto found = segments_.find(id);
  if (found != segments_.end()) found->second.lost = why;
}

absl::Status SegmentTable::CheckLive(std::uint64_t id) const {
  absl::MutexLock lock(&mutex_);
  auto found = segments_.find(id);
  if (found == segments_.end() || found->second.state != State::kLive) return NoSegment(id);
  if (!found->second.lost.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("segment ", id, " could not be mapped by the executor's replacement (",
                     found->second.lost, "); release it and register it again"));
  }
  return absl::OkStatus();
}

absl::Status SegmentTable::BeginRelease(std::uint64_t id) {
  absl::MutexLock lock(&mutex_);
  auto found = segments_.find(id);
  if (found == segments_.end() || found->second.state != State::kLive) return NoSegment(id);
  found->second.state = State::kReleasing;
  return absl::OkStatus();
}

void SegmentTable::Remove(std::uint64_t id) {
  absl::MutexLock lock(&mutex_);
  segments_.erase(id);
}

void SegmentTable::Clear() {
  absl::MutexLock lock(&mutex_);
  segments_.clear();
}

std::vector<SegmentTable::Restorable> SegmentTable::restorable() const {
  std::vector<Restorable> live;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, segment] : segments_) {
    if (segment.state == State::kLive) live.push_back({id, segment.source});
  }
  return live;
}

std::size_t SegmentTable::count() const {
  std::size_t count = 0;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, segment] : segments_) count += segment.state == State::kLive ? 1 : 0;
  return count;
}

std::uint64_t SegmentTable::bytes() const {
  std::uint64_t bytes = 0;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, segment] : segments_) bytes += segment.size;
  return bytes;
}

}  // namespace gpuos::control
