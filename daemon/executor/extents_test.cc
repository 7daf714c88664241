#include "daemon/executor/extents.h"

#include <bitset>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

TEST(Extents, AreSortedAndMergedWhereTheyTouchOrOverlap) {
  const Extents extents({{30, 40}, {10, 20}, {20, 25}, {35, 50}, {60, 60}});
  EXPECT_EQ(extents.list(), (std::vector<Extent>{{10, 25}, {30, 50}}));
}

TEST(Extents, ThatOnlyTouchDoNotIntersect) {
  EXPECT_FALSE(Extents({{0, 16}}).Intersects(Extents({{16, 32}})));
  EXPECT_TRUE(Extents({{0, 17}}).Intersects(Extents({{16, 32}})));
}

TEST(Extents, OfNothingIntersectNothing) {
  EXPECT_FALSE(Extents().Intersects(Extents({{0, 100}})));
  EXPECT_FALSE(Extents({{5, 5}}).Intersects(Extents({{0, 100}})));
}

TEST(Extents, AgreeWithSetsOfBytesOnRandomInput) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::bitset<64> bytes[2];
    Extents extents[2];
    for (int side = 0; side < 2; ++side) {
      std::vector<Extent> list;
      for (unsigned i = 0; i < random() % 4; ++i) {
        const std::uint64_t begin = random() % 60;
        const std::uint64_t end = begin + random() % 5;
        list.push_back({begin, end});
        for (std::uint64_t b = begin; b < end; ++b) bytes[side].set(b);
      }
      extents[side] = Extents(list);
    }
    EXPECT_EQ(extents[0].Intersects(extents[1]), (bytes[0] & bytes[1]).any());
  }
}

TEST(Conflict, IsAboutWritesOnly) {
  const Footprint reads{.read = Extents({{0, 64}}), .written = {}};
  const Footprint writes{.read = {}, .written = Extents({{32, 96}})};
  EXPECT_FALSE(Conflict(reads, reads));
  EXPECT_TRUE(Conflict(reads, writes));
  EXPECT_TRUE(Conflict(writes, reads));
  EXPECT_TRUE(Conflict(writes, writes));
}

}  // namespace
}  // namespace gpuos::executor
