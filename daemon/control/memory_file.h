// Memory files (memfd): what host segments are made of.
#ifndef GPUOS_DAEMON_CONTROL_MEMORY_FILE_H_
#define GPUOS_DAEMON_CONTROL_MEMORY_FILE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

struct MemoryFile {
  link::UniqueFd descriptor;
  std::uint64_t size = 0;  // Bytes, whole pages.
};

// Makes a zeroed memory file of at least `size` bytes, sealed against shrinking, growing and
// further seals. INVALID_ARGUMENT for a size of 0 or over kMaxSegmentBytes; RESOURCE_EXHAUSTED if
// the kernel gives none. Takes no memory before it is written to.
absl::StatusOr<MemoryFile> MakeMemoryFile(std::uint64_t size);

// OK for a memory file whose size cannot shrink, so that memory mapped from it never vanishes.
// INVALID_ARGUMENT says what the descriptor is instead.
absl::Status CheckMemoryFile(int descriptor);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_MEMORY_FILE_H_
