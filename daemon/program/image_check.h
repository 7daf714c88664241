// An independent reader of program images, for tests: believes nothing that daemon/program
// computed.
#ifndef GPUOS_DAEMON_PROGRAM_IMAGE_CHECK_H_
#define GPUOS_DAEMON_PROGRAM_IMAGE_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/program/program_image.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

// What a sound image turned out to be.
struct ImageReport {
  std::uint32_t edges = 0;
  // Edges between tasks that share no byte in conflict (from `after`, or out of precaution).
  std::uint32_t unjustified_edges = 0;
  // Edges between tasks that others order too.
  std::uint32_t implied_edges = 0;
};

// Walks the image as a worker would and checks:
//   - the parts lie where the header says, aligned, inside the bytes; indices are in range; counts
//   of
//     predecessors, roots and ready items are those of the edges; no circle;
//   - every element of every view lies in its slot, SlotUse says how slots are used;
//   - byte by byte, in the order of the list: whoever touches a byte is ordered, directly or
//   through
//     others, behind everybody it conflicts with there.
// INTERNAL says what is wrong. Slow (quadratic in tasks, linear in bytes touched): small programs.
absl::StatusOr<ImageReport> CheckImage(const Image& image,
                                       absl::Span<const ops::Signature> catalog);

// Only that every view is well-formed and lies in its slot; fast for views of any size.
absl::Status CheckViews(const Image& image);

// Takes the edge number `edge` out of the image, consistently, as if it had been forgotten.
void RemoveEdge(std::uint32_t edge, Image& image);

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_IMAGE_CHECK_H_
