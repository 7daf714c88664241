// Operators by name.
#ifndef GPUOS_DAEMON_PROGRAM_OPERATOR_NAMES_H_
#define GPUOS_DAEMON_PROGRAM_OPERATOR_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

// An index over a catalog, which must outlive it. Immutable, so thread-safe.
class OperatorNames {
 public:
  explicit OperatorNames(absl::Span<const ops::Signature> catalog);

  // The place of operator `name` in the catalog. INVALID_ARGUMENT for a name that is too long, else
  // NOT_FOUND with the names that come closest; the sentence begins with the field tasks[task].op.
  absl::StatusOr<std::uint32_t> Find(absl::string_view name, std::uint32_t task) const;

 private:
  // The name that is a slip or two away from `name`; up to three if they are equally close.
  std::vector<std::string> Closest(absl::string_view name) const;

  const absl::Span<const ops::Signature> catalog_;
  absl::flat_hash_map<absl::string_view, std::uint32_t> by_name_;
};

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_OPERATOR_NAMES_H_
