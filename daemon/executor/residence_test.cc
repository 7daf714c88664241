#include "daemon/executor/residence.h"

#include <chrono>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Action = Residence::Action;
constexpr Action kLaunch = Action::kLaunch;
constexpr Action kPark = Action::kPublishPark;

const Time kStart = Time(std::chrono::hours(1));

std::vector<Action> All(Residence& residence, Time now) {
  std::vector<Action> actions;
  for (Action action; (action = residence.Next(now)) != Action::kNothing;) {
    actions.push_back(action);
    if (actions.size() > 10) break;
  }
  return actions;
}

TEST(Residence, BringsTheWorkerForTheFirstBatchAndSendsItAwayBehindIt) {
  Residence residence({});
  EXPECT_THAT(All(residence, kStart), IsEmpty());
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch, kPark));
  residence.BatchCompleted(kStart);
  EXPECT_FALSE(residence.parked());
  EXPECT_TRUE(residence.leaving());
  residence.LaunchesFinished(1);
  EXPECT_TRUE(residence.parked());
  EXPECT_EQ(residence.wake_at(), std::nullopt);
}

TEST(Residence, LingersOnlyWhenBatchesComeWithinTheLinger) {
  Residence residence({.linger = microseconds(50)});
  residence.BatchPublished(kStart);
  All(residence, kStart);
  residence.BatchCompleted(kStart);
  residence.LaunchesFinished(1);
  // 40 us later: worth staying.
  Time now = kStart + microseconds(40);
  residence.BatchPublished(now);
  EXPECT_THAT(All(residence, now), ElementsAre(kLaunch));
  residence.BatchCompleted(now);
  EXPECT_THAT(All(residence, now + microseconds(49)), IsEmpty());
  EXPECT_EQ(residence.wake_at(), now + microseconds(50));
  EXPECT_THAT(All(residence, now + microseconds(50)), ElementsAre(kPark));
  residence.LaunchesFinished(2);
  // A millisecond later: not.
  now += milliseconds(1);
  residence.BatchPublished(now);
  EXPECT_THAT(All(residence, now), ElementsAre(kLaunch, kPark));
}

TEST(Residence, StaysForBatchesThatOverlap) {
  Residence residence({});
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch, kPark));
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch));
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), IsEmpty());
}

TEST(Residence, WithoutLingerEachBatchIsFollowedByAPark) {
  Residence residence({.linger = Duration(0)});
  for (int i = 0; i < 3; ++i) {
    residence.BatchPublished(kStart);
    EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch, kPark));
  }
}

TEST(Residence, DedicatedLaunchesOnceAndStays) {
  Residence residence({.dedicated = true});
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch));
  for (int i = 0; i < 100; ++i) {
    residence.BatchPublished(kStart);
    residence.BatchCompleted(kStart);
    EXPECT_THAT(All(residence, kStart + std::chrono::seconds(i)), IsEmpty());
  }
  EXPECT_EQ(residence.wake_at(), std::nullopt);
  EXPECT_EQ(residence.launches(), 1u);
  EXPECT_EQ(residence.parks(), 0u);
}

TEST(Residence, ParksADedicatedWorkerOnRequestAndBringsItBackAfter) {
  Residence residence({.dedicated = true});
  All(residence, kStart);
  residence.RequestPark(kStart);
  EXPECT_THAT(All(residence, kStart), ElementsAre(kPark));
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), IsEmpty());
  residence.LaunchesFinished(1);
  EXPECT_TRUE(residence.parked());
  EXPECT_THAT(All(residence, kStart), IsEmpty());
  residence.EndParkRequest();
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch));
}

TEST(Residence, LetsABusyWorkerWorkUntilItsPatienceEnds) {
  Residence residence({.dedicated = true, .patience = milliseconds(50)});
  All(residence, kStart);
  residence.BatchPublished(kStart);
  residence.RequestPark(kStart);
  EXPECT_THAT(All(residence, kStart + milliseconds(49)), IsEmpty());
  EXPECT_EQ(residence.wake_at(), kStart + milliseconds(50));
  EXPECT_THAT(All(residence, kStart + milliseconds(50)), ElementsAre(kPark));
}

TEST(Residence, StopParksAndLaunchesOnlyForWhatWasPublished) {
  Residence residence({.dedicated = true});
  All(residence, kStart);
  residence.Stop();
  EXPECT_THAT(All(residence, kStart), ElementsAre(kPark));
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch, kPark));
  residence.LaunchesFinished(2);
  EXPECT_THAT(All(residence, kStart), IsEmpty());
  EXPECT_TRUE(residence.parked());
}

TEST(Residence, PublishesTheParkFirstWhereLaunchesAreSynchronous) {
  Residence residence({.dedicated = true, .synchronous_launch = true});
  EXPECT_THAT(All(residence, kStart), IsEmpty());
  residence.BatchPublished(kStart);
  EXPECT_THAT(All(residence, kStart), ElementsAre(kPark, kLaunch));
}

TEST(Residence, FollowsAChangeOfOptions) {
  Residence residence({});
  residence.SetOptions({.dedicated = true});
  EXPECT_THAT(All(residence, kStart), ElementsAre(kLaunch));
  residence.SetOptions({.dedicated = false});
  EXPECT_THAT(All(residence, kStart), ElementsAre(kPark));
}

}  // namespace
}  // namespace gpuos::executor
