// A client's memory file, checked and mapped.
#ifndef GPUOS_DAEMON_DEVICE_HOST_MEMORY_FILE_H_
#define GPUOS_DAEMON_DEVICE_HOST_MEMORY_FILE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace gpuos::device {

// What a descriptor names, once it is known to be a memory file that can be mapped without danger.
struct MemoryFileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;  // Bytes; the file cannot become smaller.

  auto operator<=>(const MemoryFileIdentity&) const = default;
};

// Checks that `descriptor` is a regular memory file, sealed against shrinking (a client that cuts a
// mapped file ends its reader with SIGBUS), not empty and not larger than `limit` bytes. The kernel
// is asked, never the client. INVALID_ARGUMENT, or RESOURCE_EXHAUSTED over the limit, says what it
// is instead and what to do. Does not take the descriptor.
absl::StatusOr<MemoryFileIdentity> InspectMemoryFile(int descriptor, std::uint64_t limit);

// A mapping, readable and writable, that lives as long as the object; needs no descriptor once
// made. Movable. Thread-compatible.
class MemoryFileMapping {
 public:
  // REQUIRES: `size` as InspectMemoryFile said. INVALID_ARGUMENT where the file may not be written;
  // RESOURCE_EXHAUSTED without address space.
  static absl::StatusOr<MemoryFileMapping> Map(int descriptor, std::uint64_t size);

  MemoryFileMapping(MemoryFileMapping&& other) noexcept;
  MemoryFileMapping& operator=(MemoryFileMapping&&) = delete;
  ~MemoryFileMapping();

  std::byte* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  MemoryFileMapping(std::byte* data, std::uint64_t size) : data_(data), size_(size) {}

  std::byte* data_;
  std::uint64_t size_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_HOST_MEMORY_FILE_H_
