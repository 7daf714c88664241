#include "daemon/executor/releases.h"

#include <algorithm>
#include <utility>

namespace gpuos::executor {
namespace {

// Batches that use a segment hold it too.
bool IsUnused(const HeldSegment& segment) { return segment.use_count() == 1; }

}  // namespace

void Releases::Add(HeldSegment segment, Owner owner) {
  pending_.push_back({.segment = std::move(segment), .owner = owner});
}

bool Releases::wants_park() const {
  return segments_.ReleaseWaitsForWorker() &&
         std::any_of(pending_.begin(), pending_.end(),
                     [](const Pending& pending) { return IsUnused(pending.segment); });
}

std::uint32_t Releases::CountOf(std::uint64_t session) const {
  return static_cast<std::uint32_t>(std::count_if(
      pending_.begin(), pending_.end(),
      [session](const Pending& pending) { return pending.owner.session == session; }));
}

std::vector<Releases::Released> Releases::Run(bool parked) {
  std::vector<Released> released;
  if (pending_.empty() || (!parked && segments_.ReleaseWaitsForWorker())) return released;
  const auto let_go = [&](const Pending& pending) {
    if (!IsUnused(pending.segment)) return false;
    released.push_back({.owner = pending.owner, .status = segments_.Release(*pending.segment)});
    return true;
  };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), let_go), pending_.end());
  return released;
}

}  // namespace gpuos::executor
