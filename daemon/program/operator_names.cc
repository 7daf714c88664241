#include "daemon/program/operator_names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/program/field_path.h"

namespace gpuos::program {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kSuggestions = 3;

// Letters to insert, delete or replace to make `b` out of `a`.
std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t replaced = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, row[k] + 1, row[k + 1] + 1});
    }
  }
  return row.back();
}

// How far apart two names are; names of which one begins with the other count as one slip.
std::size_t Difference(absl::string_view wanted, absl::string_view name) {
  const bool begins = !wanted.empty() && !name.empty() &&
                      (absl::StartsWith(name, wanted) || absl::StartsWith(wanted, name));
  return begins ? 1 : EditDistance(wanted, name);
}

}  // namespace

OperatorNames::OperatorNames(absl::Span<const ops::Signature> catalog) : catalog_(catalog) {
  by_name_.reserve(catalog.size());
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    by_name_.emplace(catalog[i].name, static_cast<std::uint32_t>(i));
  }
}

absl::StatusOr<std::uint32_t> OperatorNames::Find(absl::string_view name,
                                                  std::uint32_t task) const {
  if (name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat(TaskPath(task), ".op has ", name.size(),
                                                   " bytes; at most ", kMaxNameBytes,
                                                   " are allowed"));
  }
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  const std::vector<std::string> closest = Closest(name);
  const std::string advice =
      closest.empty() ? "gpuosctl ops list shows what there is"
                      : absl::StrCat("did you mean ", absl::StrJoin(closest, " or "), "?");
  return absl::NotFoundError(absl::StrCat(TaskPath(task), ".op is ", Quoted(name),
                                          ", and there is no such operator; ", advice));
}

std::vector<std::string> OperatorNames::Closest(absl::string_view name) const {
  const std::size_t allowed = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, absl::string_view>> near;
  for (const ops::Signature& signature : catalog_) {
    const std::size_t difference = Difference(name, signature.name);
    // A name of which nothing is left is no slip of the other.
    if (difference <= allowed && difference < std::max(name.size(), signature.name.size())) {
      near.emplace_back(difference, signature.name);
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [difference, close] : near) {
    if (difference > near.front().first || names.size() == kSuggestions) break;
    names.push_back(Quoted(close));
  }
  return names;
}

}  // namespace gpuos::program
