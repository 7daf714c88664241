// How many blocks may work on one task at once.
#ifndef GPUOS_DAEMON_PROGRAM_WIDTH_H_
#define GPUOS_DAEMON_PROGRAM_WIDTH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/abi/program.h"

namespace gpuos::program {

struct Width {
  std::uint32_t width = 1;
  std::uint32_t ready_items = 0;  // Sum over all tasks of min(tiles, width).
};

// The greatest width, up to the `blocks` of the device, with which all tasks together fit a ready
// queue of `capacity` items: each is offered to as many blocks as it has tiles, up to the width.
// RESOURCE_EXHAUSTED if not even one item a task fits.
absl::StatusOr<Width> ChooseWidth(absl::Span<const abi::Task> tasks, std::uint32_t blocks,
                                  std::uint32_t capacity);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_WIDTH_H_
