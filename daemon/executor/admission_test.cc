#include "daemon/executor/admission.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

std::optional<std::size_t> Next(const std::vector<Candidate>& candidates,
                                std::uint64_t last_session = 0, std::uint32_t windows_free = 64,
                                std::uint64_t ready_free = 1000) {
  return NextToPublish({.candidates = candidates,
                        .last_session = last_session,
                        .windows_free = windows_free,
                        .ready_free = ready_free});
}

TEST(Admission, HasNothingToPublishWhenNothingWaits) { EXPECT_EQ(Next({}), std::nullopt); }

TEST(Admission, PublishesTheOnlyBatchThatWaits) {
  EXPECT_EQ(Next({{.session = 5, .ready_items = 3}}), 0u);
  EXPECT_EQ(Next({{.session = 5, .ready_items = 3}}, /*last_session=*/5), 0u);
}

TEST(Admission, LetsSessionsTakeTurns) {
  const std::vector<Candidate> three = {{.session = 2}, {.session = 5}, {.session = 9}};
  EXPECT_EQ(Next(three, 0), 0u);
  EXPECT_EQ(Next(three, 2), 1u);
  EXPECT_EQ(Next(three, 4), 1u);
  EXPECT_EQ(Next(three, 5), 2u);
  EXPECT_EQ(Next(three, 9), 0u);
  EXPECT_EQ(Next(three, 77), 0u);
}

TEST(Admission, PassesABatchThatWaitsForItsOwnSession) {
  const std::vector<Candidate> two = {{.session = 2, .conflicts = true}, {.session = 5}};
  EXPECT_EQ(Next(two, 0), 1u);
  EXPECT_EQ(Next(two, 5), 1u);
  EXPECT_EQ(Next({{.session = 2, .conflicts = true}}), std::nullopt);
}

TEST(Admission, WaitsWhenTheWindowIsFull) {
  EXPECT_EQ(Next({{.session = 2}}, 0, /*windows_free=*/0), std::nullopt);
  EXPECT_EQ(Next({{.session = 2}}, 0, /*windows_free=*/1), 0u);
}

TEST(Admission, FillsTheReadyQueueToTheLastItem) {
  const std::vector<Candidate> one = {{.session = 2, .ready_items = 10}};
  EXPECT_EQ(Next(one, 0, 64, /*ready_free=*/10), 0u);
  EXPECT_EQ(Next(one, 0, 64, /*ready_free=*/9), std::nullopt);
}

TEST(Admission, KeepsTheTurnForABatchThatIsTooLargeNow) {
  EXPECT_EQ(Next({{.session = 2, .ready_items = 10}, {.session = 5, .ready_items = 1}}, 0, 64, 9),
            std::nullopt);
  EXPECT_EQ(Next({{.session = 2, .state_fits = false}, {.session = 5}}), std::nullopt);
}

TEST(Admission, DoesNotKeepTheTurnForALargeBatchThatConflictsAnyway) {
  EXPECT_EQ(Next({{.session = 2, .conflicts = true, .ready_items = 5000}, {.session = 5}}), 1u);
}

TEST(Admission, IsFairOverManyRounds) {
  const std::vector<Candidate> three = {{.session = 2}, {.session = 5}, {.session = 9}};
  std::map<std::uint64_t, int> published;
  std::uint64_t last = 5;
  for (int round = 0; round < 300; ++round) {
    last = three[Next(three, last).value()].session;
    ++published[last];
  }
  EXPECT_EQ(published, (std::map<std::uint64_t, int>{{2, 100}, {5, 100}, {9, 100}}));
}

}  // namespace
}  // namespace gpuos::executor
