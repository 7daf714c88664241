#include "daemon/executor/arena.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace gpuos::executor {
namespace {

// Never 0, so that every stretch has an address of its own; saturates, so that no request wraps
// into a small one.
std::uint64_t RoundUp(std::uint64_t bytes) {
  constexpr std::uint64_t kMask = Arena::kAlignment - 1;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - kMask) return ~kMask;
  return std::max(bytes + kMask, Arena::kAlignment) & ~kMask;
}

}  // namespace

Arena::Arena(abi::DeviceAddress base, std::uint64_t bytes)
    : total_(bytes / kAlignment * kAlignment) {
  if (total_ > 0) AddFree(base, total_);
}

std::optional<abi::DeviceAddress> Arena::Allocate(std::uint64_t bytes) {
  const std::uint64_t size = RoundUp(bytes);
  const auto best = free_by_size_.lower_bound({size, 0});
  if (best == free_by_size_.end()) return std::nullopt;
  const auto [stretch, address] = *best;
  RemoveFree(free_.find(address));
  if (stretch > size) AddFree(address + size, stretch - size);
  taken_.emplace(address, size);
  used_ += size;
  return address;
}

bool Arena::Fits(std::uint64_t bytes) const { return RoundUp(bytes) <= largest_free(); }

void Arena::Free(abi::DeviceAddress address) {
  const auto taken = taken_.find(address);
  abi::DeviceAddress begin = address;
  std::uint64_t size = taken->second;
  taken_.erase(taken);
  used_ -= size;
  auto next = free_.lower_bound(begin);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      begin = previous->first;
      size += previous->second;
      RemoveFree(previous);
    }
  }
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    RemoveFree(next);
  }
  AddFree(begin, size);
}

std::uint64_t Arena::largest_free() const {
  return free_by_size_.empty() ? 0 : free_by_size_.rbegin()->first;
}

void Arena::AddFree(abi::DeviceAddress begin, std::uint64_t size) {
  free_.emplace(begin, size);
  free_by_size_.emplace(size, begin);
}

void Arena::RemoveFree(std::map<abi::DeviceAddress, std::uint64_t>::iterator stretch) {
  free_by_size_.erase({stretch->second, stretch->first});
  free_.erase(stretch);
}

}  // namespace gpuos::executor
