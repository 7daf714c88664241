#include "daemon/executor/arena.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

constexpr abi::DeviceAddress kBase = 0x7000'0000'0000;

TEST(Arena, HandsOutAlignedStretchesUntilItIsFull) {
  Arena arena(kBase, 1024);
  EXPECT_EQ(arena.Allocate(1), kBase);
  EXPECT_EQ(arena.Allocate(256), kBase + 256);
  EXPECT_EQ(arena.Allocate(257), kBase + 512);
  EXPECT_EQ(arena.used(), 1024u);
  EXPECT_FALSE(arena.Fits(0));
  EXPECT_EQ(arena.Allocate(0), std::nullopt);
}

TEST(Arena, MergesNeighboursInEveryOrderOfFreeing) {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    Arena arena(kBase, 768);
    abi::DeviceAddress stretches[3];
    for (abi::DeviceAddress& stretch : stretches) stretch = arena.Allocate(256).value();
    for (const int which : order) arena.Free(stretches[which]);
    EXPECT_EQ(arena.largest_free(), 768u);
    EXPECT_EQ(arena.Allocate(768), kBase);
  }
}

TEST(Arena, TakesTheSmallestStretchThatFits) {
  Arena arena(kBase, 4096);
  const abi::DeviceAddress large = arena.Allocate(1024).value();
  arena.Allocate(256).value();
  const abi::DeviceAddress small = arena.Allocate(512).value();
  arena.Allocate(256).value();
  arena.Free(large);
  arena.Free(small);
  EXPECT_EQ(arena.Allocate(300), small);
}

TEST(Arena, RefusesSizesThatWouldWrap) {
  Arena arena(kBase, 1024);
  EXPECT_EQ(arena.Allocate(std::numeric_limits<std::uint64_t>::max()), std::nullopt);
  EXPECT_EQ(arena.Allocate(std::numeric_limits<std::uint64_t>::max() - 254), std::nullopt);
  EXPECT_EQ(arena.used(), 0u);
}

TEST(Arena, LeavesARestBelowTheAlignmentUnused) {
  Arena arena(kBase, 1000);
  EXPECT_EQ(arena.total(), 768u);
  EXPECT_EQ(Arena(kBase, 255).Allocate(1), std::nullopt);
}

// The stretches that are taken, by address, kept beside the arena and compared with it.
class Model {
 public:
  void CheckNew(abi::DeviceAddress address, std::uint64_t size, std::uint64_t total) {
    ASSERT_EQ(address % Arena::kAlignment, 0u);
    ASSERT_GE(address, kBase);
    ASSERT_LE(address + size, kBase + total);
    const auto next = taken_.lower_bound(address);
    if (next != taken_.end()) ASSERT_LE(address + size, next->first);
    if (next != taken_.begin()) {
      const auto previous = std::prev(next);
      ASSERT_LE(previous->first + previous->second, address);
    }
    taken_[address] = size;
  }

  // The longest gap between taken stretches.
  std::uint64_t LongestGap(std::uint64_t total) const {
    std::uint64_t longest = 0;
    abi::DeviceAddress end = kBase;
    for (const auto& [address, size] : taken_) {
      longest = std::max(longest, address - end);
      end = address + size;
    }
    return std::max(longest, kBase + total - end);
  }

  std::map<abi::DeviceAddress, std::uint64_t> taken_;
};

TEST(Arena, NeverOverlapsAndNeverLosesAByteOverRandomUse) {
  constexpr std::uint64_t kTotal = 64 * 1024;
  Arena arena(kBase, kTotal);
  Model model;
  std::mt19937 random(3);
  for (int step = 0; step < 50000; ++step) {
    if (model.taken_.empty() || random() % 100 < 55) {
      const std::uint64_t bytes = random() % (random() % 10 == 0 ? 20000 : 2000);
      const std::uint64_t size = std::max<std::uint64_t>(256, (bytes + 255) / 256 * 256);
      const bool fits = model.LongestGap(kTotal) >= size;
      ASSERT_EQ(arena.Fits(bytes), fits);
      const std::optional<abi::DeviceAddress> address = arena.Allocate(bytes);
      ASSERT_EQ(address.has_value(), fits);
      if (fits) ASSERT_NO_FATAL_FAILURE(model.CheckNew(*address, size, kTotal));
    } else {
      auto victim = model.taken_.begin();
      std::advance(victim, random() % model.taken_.size());
      arena.Free(victim->first);
      model.taken_.erase(victim);
    }
  }
  for (const auto& [address, size] : model.taken_) arena.Free(address);
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.largest_free(), kTotal);
}

}  // namespace
}  // namespace gpuos::executor
