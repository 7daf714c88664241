#include "daemon/device/host/host_memory.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace gpuos::device {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kSharedAlignment = 4096;

}  // namespace

absl::StatusOr<std::byte*> HostMemory::AllocateBlock(std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) {
    return absl::InvalidArgumentError("0 bytes of memory were asked for; ask for at least 1");
  }
  const std::uint64_t free = limit_ - used_;
  // aligned_alloc wants a multiple of the alignment; the first comparison keeps this from overflow.
  const std::size_t size = bytes > free ? 0 : (bytes + alignment - 1) / alignment * alignment;
  auto* block = size == 0 ? nullptr : static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory: ", bytes, " bytes were asked for and ", free, " of ", limit_,
                     " are free; drop programs or sessions, or ask for less"));
  }
  std::memset(block, 0, size);
  blocks_.emplace_back(block);
  used_ += bytes;
  return block;
}

absl::StatusOr<DeviceAddress> HostMemory::Allocate(std::size_t bytes) {
  const absl::StatusOr<std::byte*> block = AllocateBlock(bytes, kAlignment);
  if (!block.ok()) return block.status();
  return reinterpret_cast<DeviceAddress>(*block);
}

absl::StatusOr<SharedBytes> HostMemory::AllocateShared(std::size_t bytes) {
  const absl::StatusOr<std::byte*> block = AllocateBlock(bytes, kSharedAlignment);
  if (!block.ok()) return block.status();
  return SharedBytes{.host = *block, .device = reinterpret_cast<DeviceAddress>(*block)};
}

absl::Status HostMemory::Write(DeviceAddress to, absl::Span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(reinterpret_cast<std::byte*>(to), bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::Status HostMemory::Read(DeviceAddress from, absl::Span<std::byte> bytes) {
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), reinterpret_cast<const std::byte*>(from), bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace gpuos::device
