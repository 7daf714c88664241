// Suggestions for a name that was not found.
#ifndef GPUOS_DAEMON_CONTROL_CLOSEST_NAMES_H_
#define GPUOS_DAEMON_CONTROL_CLOSEST_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gpuos::control {

// At most `count` of `names`, those nearest to `name` by edit distance first, equals by alphabet.
// Pure.
std::vector<std::string> ClosestNames(absl::string_view name, const std::vector<std::string>& names,
                                      std::size_t count);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_CLOSEST_NAMES_H_
