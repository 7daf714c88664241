#include "daemon/program/neighborhoods.h"

#include <cstdint>
#include <vector>

#include "daemon/program/extent.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::program {
namespace {

using ::testing::ElementsAre;

Footprint Range(std::uint64_t begin, std::uint64_t length) {
  return {.begin = begin, .run = length};
}

Footprint Column(std::uint64_t column, std::uint64_t columns) {
  Footprint footprint{.begin = column * 4, .run = 4, .loop_count = 1};
  footprint.loops[0] = {columns * 4, 100};
  return footprint;
}

TEST(Neighborhoods, RangesThatTouchAreApartAndThoseThatCrossHangTogether) {
  std::uint32_t comparisons = 100;
  const std::vector<Footprint> footprints = {Range(0, 4), Range(4, 4), Range(6, 4), Range(0, 4),
                                             Range(9, 9)};
  EXPECT_THAT(SplitByOverlap(footprints, comparisons).of, ElementsAre(0, 1, 1, 0, 1));
  EXPECT_EQ(comparisons, 100u) << "dense ranges need no comparison";
}

TEST(Neighborhoods, ColumnsAreApart) {
  std::uint32_t comparisons = 100;
  const std::vector<Footprint> footprints = {Column(0, 3), Column(1, 3), Column(0, 3),
                                             Column(2, 3)};
  const Neighborhoods split = SplitByOverlap(footprints, comparisons);
  EXPECT_THAT(split.of, ElementsAre(0, 1, 0, 2));
  EXPECT_EQ(split.count, 3u);
  EXPECT_LT(comparisons, 100u);
}

TEST(Neighborhoods, WhatCoversTwoColumnsJoinsThem) {
  std::uint32_t comparisons = 100;
  EXPECT_THAT(
      SplitByOverlap({Column(0, 3), Column(1, 3), Range(0, 6), Column(2, 3)}, comparisons).of,
      ElementsAre(0, 0, 0, 1));
}

TEST(Neighborhoods, TakesAllTogetherOnceComparisonsAreUsedUp) {
  std::uint32_t comparisons = 2;
  const Neighborhoods split =
      SplitByOverlap({Column(0, 3), Column(1, 3), Column(2, 3), Range(4000, 4)}, comparisons);
  EXPECT_THAT(split.of, ElementsAre(0, 0, 0, 1));
  EXPECT_EQ(comparisons, 0u);
}

TEST(Neighborhoods, OfNothingAreNone) {
  std::uint32_t comparisons = 1;
  EXPECT_EQ(SplitByOverlap({}, comparisons).count, 0u);
}

}  // namespace
}  // namespace gpuos::program
