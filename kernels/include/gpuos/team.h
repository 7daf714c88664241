// Threads that work on one thing together: the whole block, or one warp of it. On a host device a
// team is one thread.
#ifndef GPUOS_TEAM_H_
#define GPUOS_TEAM_H_

#include <cstdint>

#include "gpuos/block.h"
#include "gpuos/call.h"
#include "gpuos/unroll.h"
#include "kernels/abi/limits.h"

namespace gpuos {

// Scratch memory that reductions use, at its end. The operator may use what lies before.
inline constexpr std::uint32_t kReduceScratchBytes = 1024;
inline constexpr std::uint32_t kFreeScratchBytes = abi::kScratchBytes - kReduceScratchBytes;

#ifdef __CUDACC__

inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kWholeWarp = 0xffffffffu;

// Value of the lane `distance` above, or of lane 0. All lanes call it. T is made of 4-byte words.
template <typename T>
GPUOS_INLINE T FromLaneAbove(T value, std::uint32_t distance) {
  static_assert(sizeof(T) % 4 == 0, "a value travels in words of 4 bytes");
  std::uint32_t words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  GPUOS_UNROLL
  for (std::uint32_t& word : words) word = __shfl_down_sync(kWholeWarp, word, distance);
  memcpy(&value, words, sizeof(T));
  return value;
}
template <typename T>
GPUOS_INLINE T FromFirstLane(T value) {
  std::uint32_t words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  GPUOS_UNROLL
  for (std::uint32_t& word : words) word = __shfl_sync(kWholeWarp, word, 0);
  memcpy(&value, words, sizeof(T));
  return value;
}

// A block's size is a multiple of kWarpSize.
class Team {
 public:
  static GPUOS_INLINE Team Block() { return Team(ThreadIndex(), ThreadCount()); }
  static GPUOS_INLINE Team Warp() { return Team(ThreadIndex() % kWarpSize, kWarpSize); }

  GPUOS_INLINE std::uint32_t index() const { return index_; }
  GPUOS_INLINE std::uint32_t size() const { return size_; }
  GPUOS_INLINE bool IsLeader() const { return index_ == 0; }

  // One value out of every thread's, the same for all of them. All threads of the team call it.
  // `combine(a, b)` must be associative and commutative up to rounding; it is always applied in the
  // same order, so a result does not change from run to run.
  template <typename T, typename Combine>
  GPUOS_INLINE T Reduce(const Call& call, T value, Combine combine) const {
    static_assert(sizeof(T) * kWarpSize <= kReduceScratchBytes,
                  "one value a warp fits the scratch");
    GPUOS_UNROLL
    for (std::uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2) {
      value = combine(value, FromLaneAbove(value, distance));
    }
    if (size_ == kWarpSize) return FromFirstLane(value);
    T* partial = reinterpret_cast<T*>(call.scratch + kFreeScratchBytes);
    if (index_ % kWarpSize == 0) partial[index_ / kWarpSize] = value;
    SyncBlock();  // Every warp's partial result, before everybody reads them all.
    value = partial[0];
    for (std::uint32_t w = 1; w < size_ / kWarpSize; ++w) value = combine(value, partial[w]);
    SyncBlock();  // Everybody has read them: the scratch may be written again.
    return value;
  }

 private:
  GPUOS_INLINE Team(std::uint32_t index, std::uint32_t size) : index_(index), size_(size) {}

  std::uint32_t index_;
  std::uint32_t size_;
};

#else

class Team {
 public:
  static Team Block() { return Team(); }

  std::uint32_t index() const { return 0; }
  std::uint32_t size() const { return 1; }
  bool IsLeader() const { return true; }

  template <typename T, typename Combine>
  T Reduce(const Call&, T value, Combine) const {
    return value;
  }
};

#endif

// Team::Reduce over the whole block: all threads of the block call it.
template <typename T, typename Combine>
GPUOS_INLINE T BlockReduce(const Call& call, T value, Combine combine) {
  return Team::Block().Reduce(call, value, combine);
}

}  // namespace gpuos

#endif  // GPUOS_TEAM_H_
