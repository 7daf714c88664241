// A host device's memory: the executor's own heap.
#ifndef GPUOS_DAEMON_DEVICE_HOST_HOST_MEMORY_H_
#define GPUOS_DAEMON_DEVICE_HOST_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// Owns what it allocates until it is destroyed; the worker must have ended by then. Every
// allocation is a heap block of its own, so that the address sanitizer sees an operator that leaves
// it. Thread-compatible: one thread, the executor's. Allocate and AllocateShared give
// INVALID_ARGUMENT for 0 bytes and RESOURCE_EXHAUSTED beyond the limit; nothing changes then.
class HostMemory final : public Memory {
 public:
  // Allocations may hold `limit` bytes together.
  explicit HostMemory(std::uint64_t limit) : limit_(limit) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  absl::StatusOr<DeviceAddress> Allocate(std::size_t bytes) override;
  absl::Status Write(DeviceAddress to, absl::Span<const std::byte> bytes) override;
  absl::Status Read(DeviceAddress from, absl::Span<std::byte> bytes) override;

  // As Device::AllocateShared: here all memory is shared.
  absl::StatusOr<SharedBytes> AllocateShared(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* block) const { std::free(block); }
  };

  absl::StatusOr<std::byte*> AllocateBlock(std::size_t bytes, std::size_t alignment);

  const std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_HOST_HOST_MEMORY_H_
