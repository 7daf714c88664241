// Hands out stretches of one device allocation. Bookkeeping only: no byte of it is touched.
#ifndef GPUOS_DAEMON_EXECUTOR_ARENA_H_
#define GPUOS_DAEMON_EXECUTOR_ARENA_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "kernels/abi/queue.h"

namespace gpuos::executor {

// Best fit; neighbours that are free are merged at once. Times are logarithmic in the number of
// free stretches. Thread-compatible. Does not own the memory.
class Arena {
 public:
  static constexpr std::uint64_t kAlignment = 256;

  // REQUIRES: `base` is a multiple of kAlignment. A rest of `bytes` below kAlignment is left
  // unused.
  Arena(abi::DeviceAddress base, std::uint64_t bytes);

  // An aligned stretch of at least `bytes` (of kAlignment for 0), or nullopt if no free stretch is
  // long enough.
  std::optional<abi::DeviceAddress> Allocate(std::uint64_t bytes);

  // Whether Allocate would give something.
  bool Fits(std::uint64_t bytes) const;

  // Gives a stretch back. REQUIRES: `address` is from Allocate and was not given back since.
  void Free(abi::DeviceAddress address);

  std::uint64_t total() const { return total_; }
  std::uint64_t used() const { return used_; }
  // The longest stretch that Allocate could give.
  std::uint64_t largest_free() const;

 private:
  void AddFree(abi::DeviceAddress begin, std::uint64_t size);
  void RemoveFree(std::map<abi::DeviceAddress, std::uint64_t>::iterator stretch);

  std::uint64_t total_;
  std::uint64_t used_ = 0;
  // Free stretches by address, and the same by (size, address). No two touch.
  std::map<abi::DeviceAddress, std::uint64_t> free_;
  std::set<std::pair<std::uint64_t, abi::DeviceAddress>> free_by_size_;
  std::unordered_map<abi::DeviceAddress, std::uint64_t> taken_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_ARENA_H_
