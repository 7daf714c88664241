// Where in a request a value stands, spelled as the proto spells it.
#ifndef GPUOS_DAEMON_PROGRAM_FIELD_PATH_H_
#define GPUOS_DAEMON_PROGRAM_FIELD_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gpuos::program {

// Names an operand of a task; turned into text only when there is something to refuse, so that
// checking a long program allocates nothing. A value type.
struct OperandPath {
  std::uint32_t task = 0;
  std::uint32_t operand = 0;
};

inline std::string TaskPath(std::uint32_t task) { return absl::StrCat("tasks[", task, "]"); }

inline std::string ToString(const OperandPath& path) {
  return absl::StrCat(TaskPath(path.task), ".operands[", path.operand, "]");
}

// A client's text for a sentence: in quotation marks, one line, of bounded length.
inline std::string Quoted(absl::string_view text) {
  constexpr std::size_t kMost = 64;
  if (text.size() <= kMost) return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text), "\"");
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMost)), "...\"");
}

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_FIELD_PATH_H_
