#include "client/cli/units.h"

#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace gpuos::cli {
namespace {

struct Unit {
  const char* name;
  std::uint64_t seconds;
};

constexpr std::array<Unit, 4> kUnits = {{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}};

std::string Short(const std::string& name, absl::string_view prefix, int value) {
  if (name.empty()) return absl::StrCat(value);
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

}  // namespace

std::string Count(std::uint64_t value) {
  std::string digits = absl::StrCat(value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string Bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kNames.size(); ++unit) value /= 1024;
  return absl::StrFormat("%.1f %s", value, kNames[unit]);
}

std::string Duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds > 0 ? seconds : 0);
  for (std::size_t i = 0; i + 1 < kUnits.size(); ++i) {
    if (whole < kUnits[i].seconds) continue;
    const std::uint64_t rest = whole % kUnits[i].seconds / kUnits[i + 1].seconds;
    const std::string large = absl::StrCat(whole / kUnits[i].seconds, " ", kUnits[i].name);
    return rest == 0 ? large : absl::StrCat(large, " ", rest, " ", kUnits[i + 1].name);
  }
  return absl::StrCat(whole, " s");
}

std::string Name(v1::ExecutorState state) {
  return Short(v1::ExecutorState_Name(state), "EXECUTOR_STATE_", state);
}

std::string Name(v1::Residence residence) {
  return Short(v1::Residence_Name(residence), "RESIDENCE_", residence);
}

std::string Name(v1::OperatorState state) {
  return Short(v1::OperatorState_Name(state), "OPERATOR_STATE_", state);
}

std::string Name(v1::DType dtype) { return Short(v1::DType_Name(dtype), "DTYPE_", dtype); }

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string Remarks(const v1::DeviceStatus& device) {
  std::string lines;
  const std::string& name = device.device().name();
  if (!device.remark().empty()) absl::StrAppend(&lines, name, ": ", device.remark(), "\n");
  if (!device.last_failure().empty()) {
    absl::StrAppend(&lines, name, ": its last executor was lost: ", device.last_failure(), "\n");
  }
  return lines;
}

}  // namespace gpuos::cli
