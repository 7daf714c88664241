// Every conflict of random programs is ordered, as an interpreter that knows nothing of how edges
// are found sees it.
#include <cstdint>
#include <random>
#include <string>

#include "daemon/program/image_check.h"
#include "daemon/program/program_image.h"
#include "daemon/program/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::program {
namespace {

constexpr Limits kLimits{.runner_blocks = 8, .ready_capacity = 4096};

TEST(RandomProgram, EveryConflictIsOrderedAndNothingElse) {
  std::mt19937_64 random(20261201);
  std::uint64_t edges = 0;
  std::uint64_t implied = 0;
  for (int round = 0; round < 300; ++round) {
    const v1::Program program = RandomProgram(random, 40, /*after=*/false);
    const auto image = BuildImage(program, TestCatalog(), kLimits);
    ASSERT_TRUE(image.ok()) << image.status();
    const auto report = CheckImage(*image, TestCatalog());
    ASSERT_TRUE(report.ok()) << "round " << round << ": " << report.status() << "\n"
                             << program.DebugString();
    ASSERT_EQ(report->unjustified_edges, 0u) << "round " << round;
    edges += report->edges;
    implied += report->implied_edges;
  }
  RecordProperty("edges", std::to_string(edges));
  RecordProperty("implied", std::to_string(implied));
  EXPECT_GT(edges, 5000u);
  // Most edges that others imply are left out.
  EXPECT_LT(implied * 2, edges);
}

TEST(RandomProgram, TasksNamedInAfterAreOrderedToo) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    const v1::Program program = RandomProgram(random, 30, /*after=*/true);
    const auto image = BuildImage(program, TestCatalog(), kLimits);
    ASSERT_TRUE(image.ok()) << image.status();
    const auto report = CheckImage(*image, TestCatalog());
    ASSERT_TRUE(report.ok()) << report.status();
  }
}

// The check itself: an edge that is forgotten is noticed, unless others imply it.
TEST(RandomProgram, CheckerNoticesEveryMissingEdge) {
  std::mt19937_64 random(11);
  std::uint64_t noticed = 0;
  for (int round = 0; round < 30; ++round) {
    const v1::Program program = RandomProgram(random, 20, /*after=*/false);
    const auto image = BuildImage(program, TestCatalog(), kLimits);
    ASSERT_TRUE(image.ok()) << image.status();
    const auto whole = CheckImage(*image, TestCatalog());
    ASSERT_TRUE(whole.ok()) << whole.status();
    std::uint64_t missed = 0;
    for (std::uint32_t edge = 0; edge < image->edges; ++edge) {
      Image damaged = *image;
      RemoveEdge(edge, damaged);
      const auto report = CheckImage(damaged, TestCatalog());
      if (report.ok()) {
        ++missed;
        continue;
      }
      ASSERT_THAT(std::string(report.status().message()), ::testing::HasSubstr("does not wait"));
      ++noticed;
    }
    EXPECT_EQ(missed, whole->implied_edges);
  }
  EXPECT_GT(noticed, 100u);
}

}  // namespace
}  // namespace gpuos::program
