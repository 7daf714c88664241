#include "daemon/executor/admission.h"

#include <algorithm>

namespace gpuos::executor {

std::optional<std::size_t> NextToPublish(const AdmissionSnapshot& snapshot) {
  if (snapshot.windows_free == 0) return std::nullopt;
  const absl::Span<const Candidate> candidates = snapshot.candidates;
  const auto first = std::upper_bound(candidates.begin(), candidates.end(), snapshot.last_session,
                                      [](std::uint64_t session, const Candidate& candidate) {
                                        return session < candidate.session;
                                      });
  const std::size_t start = first - candidates.begin();
  for (std::size_t turn = 0; turn < candidates.size(); ++turn) {
    const std::size_t index = (start + turn) % candidates.size();
    const Candidate& candidate = candidates[index];
    if (candidate.conflicts) continue;
    if (candidate.ready_items > snapshot.ready_free || !candidate.state_fits) return std::nullopt;
    return index;
  }
  return std::nullopt;
}

}  // namespace gpuos::executor
