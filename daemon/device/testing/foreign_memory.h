// Test only: memory that a client would share.
#ifndef GPUOS_DAEMON_DEVICE_TESTING_FOREIGN_MEMORY_H_
#define GPUOS_DAEMON_DEVICE_TESTING_FOREIGN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"

namespace gpuos::device::testing {

// Owned by the client's side; may end before the device lets its segment go. One thread. What fails
// on the client's side throws std::runtime_error.
class ForeignMemory {
 public:
  virtual ~ForeignMemory() = default;

  // Maps it, as the executor does.
  virtual absl::StatusOr<Segment> ImportInto(Segments& segments) = 0;
  absl::StatusOr<Segment> Import(Device& device) { return ImportInto(device.segments()); }
  virtual void Write(std::uint64_t offset, absl::Span<const std::byte> bytes) = 0;
  virtual void Read(std::uint64_t offset, absl::Span<std::byte> bytes) = 0;
};

// A memory file of `bytes`, sealed against shrinking.
std::unique_ptr<ForeignMemory> MakeMemoryFile(std::uint64_t bytes);

}  // namespace gpuos::device::testing

#endif  // GPUOS_DAEMON_DEVICE_TESTING_FOREIGN_MEMORY_H_
