#include "daemon/program/access_index.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "daemon/program/access.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kRead = ops::Access::kRead;
constexpr auto kWrite = ops::Access::kWrite;
constexpr auto kAtomic = ops::Access::kAtomic;

std::vector<std::uint32_t> ResultsOf(AccessIndex& index, CellRange cells, ops::Access access) {
  index.StartSearch();
  index.Seek(cells, access);
  std::vector<std::uint32_t> results;
  for (std::uint32_t rank; (rank = index.Next()) != AccessIndex::kNone;) results.push_back(rank);
  return results;
}

TEST(AccessIndex, KnowsNothingAtFirst) {
  AccessIndex index(5);
  EXPECT_THAT(ResultsOf(index, {0, 5}, kWrite), IsEmpty());
}

TEST(AccessIndex, ReturnsConflictsWithTheLatestFirst) {
  AccessIndex index(4);
  index.Add({0, 4}, kWrite, 0, 0);
  index.Add({1, 2}, kRead, 1, 0);
  index.Add({2, 4}, kAtomic, 2, 0);
  EXPECT_THAT(ResultsOf(index, {0, 4}, kWrite), ElementsAre(2, 1, 0));
  EXPECT_THAT(ResultsOf(index, {0, 4}, kRead), ElementsAre(2, 0));
  EXPECT_THAT(ResultsOf(index, {0, 4}, kAtomic), ElementsAre(1, 0));
  EXPECT_THAT(ResultsOf(index, {1, 2}, kWrite), ElementsAre(1, 0));
  EXPECT_THAT(ResultsOf(index, {3, 4}, kRead), ElementsAre(2, 0));
}

TEST(AccessIndex, WriteTakesThePlaceOfAllBeforeInItsCellsOnly) {
  AccessIndex index(8);
  index.Add({0, 8}, kRead, 0, 0);
  index.Add({2, 5}, kWrite, 1, 0);
  EXPECT_THAT(ResultsOf(index, {2, 5}, kWrite), ElementsAre(1));
  EXPECT_THAT(ResultsOf(index, {4, 6}, kWrite), ElementsAre(1, 0));
  EXPECT_THAT(ResultsOf(index, {0, 2}, kWrite), ElementsAre(0));
}

TEST(AccessIndex, DropsWhatALaterMemberHasSettled) {
  AccessIndex index(2);
  index.Add({0, 2}, kRead, 0, 0);
  index.Add({0, 2}, kRead, 1, /*settled=*/1);
  EXPECT_THAT(ResultsOf(index, {0, 1}, kWrite), ElementsAre(1));
}

// Against one list of accesses for each cell and kind.
TEST(AccessIndex, AgreesWithPlainListsOnRandomAccesses) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t cells = 1 + random() % 37;
    AccessIndex index(cells);
    std::vector<std::vector<std::pair<ops::Access, std::uint32_t>>> plain(cells);
    for (std::uint32_t rank = 0; rank < 60; ++rank) {
      const auto first = static_cast<std::uint32_t>(random() % cells);
      const auto last = first + 1 + static_cast<std::uint32_t>(random() % (cells - first));
      const auto access = static_cast<ops::Access>(random() % 3);
      std::vector<std::uint32_t> want;
      for (std::uint32_t cell = first; cell < last; ++cell) {
        for (const auto& [kind, other] : plain[cell]) {
          if (Conflict(kind, access)) want.push_back(other);
        }
      }
      std::sort(want.rbegin(), want.rend());
      want.erase(std::unique(want.begin(), want.end()), want.end());
      ASSERT_EQ(ResultsOf(index, {first, last}, access), want) << "round " << round;
      index.Add({first, last}, access, rank, /*settled=*/0);
      for (std::uint32_t cell = first; cell < last; ++cell) {
        if (access == kWrite) plain[cell].clear();
        plain[cell].emplace_back(access, rank);
      }
    }
  }
}

}  // namespace
}  // namespace gpuos::program
