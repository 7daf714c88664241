#include "daemon/device/host/host_memory.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace gpuos::device {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kSharedAlignment = 4096;
// Blocks from here on are left to the kernel to clear when they are touched: an executor's arenas
// are large and mostly unused.
constexpr std::size_t kLargeBlock = std::size_t{1} << 20;

struct Block {
  std::byte* owned = nullptr;  // For std::free.
  std::byte* start = nullptr;  // Aligned.
};

Block AllocateZeroed(std::size_t size, std::size_t alignment) {
  if (size < kLargeBlock) {
    auto* block = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
    if (block != nullptr) std::memset(block, 0, size);
    return {.owned = block, .start = block};
  }
  auto* block = static_cast<std::byte*>(std::calloc(1, size + alignment));
  if (block == nullptr) return {};
  const std::size_t past = reinterpret_cast<std::uintptr_t>(block) % alignment;
  return {.owned = block, .start = past == 0 ? block : block + (alignment - past)};
}

}  // namespace

absl::StatusOr<std::byte*> HostMemory::AllocateBlock(std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) {
    return absl::InvalidArgumentError("0 bytes of memory were asked for; ask for at least 1");
  }
  const std::uint64_t free = limit_ - used_;
  // aligned_alloc wants a multiple of the alignment; the first comparison keeps this from overflow.
  const std::size_t size = bytes > free ? 0 : (bytes + alignment - 1) / alignment * alignment;
  const Block block = size == 0 ? Block{} : AllocateZeroed(size, alignment);
  if (block.start == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory: ", bytes, " bytes were asked for and ", free, " of ", limit_,
                     " are free; drop programs or sessions, or ask for less"));
  }
  blocks_.emplace_back(block.owned);
  used_ += bytes;
  return block.start;
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
