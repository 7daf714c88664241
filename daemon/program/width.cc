#include "daemon/program/width.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::program {
namespace {

std::uint64_t ReadyItems(absl::Span<const abi::Task> tasks, std::uint32_t width) {
  std::uint64_t items = 0;
  for (const abi::Task& task : tasks) items += std::min(task.tiles, width);
  return items;
}

}  // namespace

absl::StatusOr<Width> ChooseWidth(absl::Span<const abi::Task> tasks, std::uint32_t blocks,
                                  std::uint32_t capacity) {
  if (ReadyItems(tasks, 1) > capacity) {
    return absl::ResourceExhaustedError(absl::StrCat("tasks has ", tasks.size(),
                                                     " entries, but this device can hold ",
                                                     capacity, " ready ones; split the program"));
  }
  std::uint32_t fits = 1;
  std::uint32_t widest = std::max(blocks, 1u);
  while (fits < widest) {
    const std::uint32_t middle = fits + (widest - fits + 1) / 2;
    if (ReadyItems(tasks, middle) <= capacity) {
      fits = middle;
    } else {
      widest = middle - 1;
    }
  }
  return Width{.width = fits, .ready_items = static_cast<std::uint32_t>(ReadyItems(tasks, fits))};
}

}  // namespace gpuos::program
