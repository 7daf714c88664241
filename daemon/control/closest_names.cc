#include "daemon/control/closest_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpuos::control {
namespace {

// Longer names are compared by their beginnings, so that a name of any length costs little.
constexpr std::size_t kCompared = 64;

std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  a = a.substr(0, kCompared);
  b = b.substr(0, kCompared);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> ClosestNames(absl::string_view name, const std::vector<std::string>& names,
                                      std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : names) {
    ranked.emplace_back(EditDistance(name, candidate), candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> closest;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) {
    closest.push_back(std::move(ranked[i].second));
  }
  return closest;
}

}  // namespace gpuos::control
