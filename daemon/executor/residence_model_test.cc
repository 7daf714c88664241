// Explores residence with a model of the worker: every order of events up to a bound, and from each
// state reached checks that all published work gets done and that the worker ends where it should.
#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "daemon/executor/residence.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

constexpr int kMaxBatches = 3;
constexpr int kMaxTicks = 4;
constexpr int kMaxRequests = 2;
constexpr Duration kTick = std::chrono::microseconds(50);

enum class Event { kPublish, kTake, kComplete, kHear, kTick, kRequestPark, kRelease, kStop };
constexpr std::array kEvents = {Event::kPublish, Event::kTake, Event::kComplete,
                                Event::kHear,    Event::kTick, Event::kRequestPark,
                                Event::kRelease, Event::kStop};

// Executor, queue and worker. What the worker did is told to residence only by kHear, as late as
// the exploration likes.
struct World {
  Residence residence;
  std::vector<char> queue;  // 'B' or 'P'.
  std::uint32_t taken = 0;
  int running = 0;
  int completed = 0, completed_heard = 0;
  int launched = 0, left = 0;
  int published = 0, ticks = 0, requests = 0;
  bool request_pending = false, stopped = false;

  auto operator<=>(const World&) const = default;

  Time now() const { return Time(std::chrono::hours(1)) + ticks * kTick; }

  // Does what residence decides. False if it does not come to an end or breaks a promise.
  bool Settle() {
    for (int i = 0; i < 8; ++i) {
      switch (residence.Next(now())) {
        case Residence::Action::kNothing:
          return true;
        case Residence::Action::kLaunch:
          if (request_pending && residence.parked()) return false;
          ++launched;
          if (residence.options().synchronous_launch) RunSynchronously();
          break;
        case Residence::Action::kPublishPark:
          queue.push_back('P');
          break;
      }
    }
    return false;
  }

  // What a launch that blocks does before it returns.
  void RunSynchronously() {
    while (Apply(Event::kTake) || Apply(Event::kComplete)) continue;
  }

  bool TakeEntry() {
    if (left == launched || taken == queue.size()) return false;
    if (queue[taken] == 'P') {
      if (running > 0) return false;
      ++left;
    } else {
      ++running;
    }
    ++taken;
    return true;
  }

  // Tells one thing that residence has not heard.
  bool Hear() {
    if (completed_heard < completed) {
      ++completed_heard;
      residence.BatchCompleted(now());
      return true;
    }
    if (residence.finished() == static_cast<std::uint64_t>(left)) return false;
    residence.LaunchesFinished(left);
    return true;
  }

  // False if the event cannot happen in this state.
  bool Apply(Event event) {
    switch (event) {
      case Event::kPublish:
        if (published == kMaxBatches || stopped) return false;
        ++published;
        queue.push_back('B');
        residence.BatchPublished(now());
        return true;
      case Event::kTake:
        return TakeEntry();
      case Event::kComplete:
        if (running == 0) return false;
        --running;
        ++completed;
        return true;
      case Event::kHear:
        return Hear();
      case Event::kTick:
        if (ticks == kMaxTicks) return false;
        ++ticks;
        return true;
      case Event::kRequestPark:
        if (requests == kMaxRequests || request_pending) return false;
        ++requests;
        request_pending = true;
        residence.RequestPark(now());
        return true;
      case Event::kRelease:
        if (!request_pending || !residence.parked()) return false;
        request_pending = false;
        residence.EndParkRequest();
        return true;
      case Event::kStop:
        if (stopped) return false;
        stopped = true;
        residence.Stop();
        return true;
    }
    return false;
  }

  // Lets everything that is under way come to its end, time included, and nothing new begin.
  bool Drain() {
    for (int i = 0; i < 200; ++i) {
      if (Apply(Event::kTake) || Apply(Event::kComplete) || Apply(Event::kHear) ||
          Apply(Event::kRelease)) {
        if (!Settle()) return false;
        continue;
      }
      const std::optional<Time> wake = residence.wake_at();
      if (!wake) return true;
      while (now() < *wake) ++ticks;
      if (!Settle()) return false;
    }
    return false;
  }
};

void CheckPromises(const World& world) {
  const Residence& residence = world.residence;
  ASSERT_EQ(residence.launches(), static_cast<std::uint64_t>(world.launched));
  ASSERT_LE(residence.launches(), residence.parks() + 1);
  ASSERT_LE(residence.parks(), residence.launches());
  // The queue's size is planned for a PARK behind each unfinished batch and one more.
  ASSERT_LE(world.queue.size() - world.taken,
            2 * static_cast<std::size_t>(world.published - world.completed) + 1);
  World end = world;
  ASSERT_TRUE(end.Drain());
  ASSERT_EQ(end.completed, end.published) << "published work and nobody comes for it";
  ASSERT_FALSE(end.request_pending) << "a release waits for ever";
  const bool stays = residence.options().dedicated && !residence.options().synchronous_launch;
  ASSERT_EQ(end.residence.parked(), !stays || end.stopped);
}

// Returns how many states there are.
std::size_t Explore(const Residence::Options& options) {
  World start{.residence = Residence(options)};
  EXPECT_TRUE(start.Settle());
  std::set<World> seen{start};
  std::deque<World> open{start};
  while (!open.empty() && !::testing::Test::HasFatalFailure()) {
    const World world = open.front();
    open.pop_front();
    CheckPromises(world);
    for (const Event event : kEvents) {
      World next = world;
      if (!next.Apply(event)) continue;
      EXPECT_TRUE(next.Settle());
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return seen.size();
}

Residence::Options WithPatience(Residence::Options options) {
  options.patience = 2 * kTick;
  return options;
}

TEST(ResidenceModel, ElasticLosesNoWakeUp) {
  EXPECT_GT(Explore(WithPatience({.linger = kTick})), 1000u);
}

TEST(ResidenceModel, ElasticWithoutLingerLosesNoWakeUp) {
  EXPECT_GT(Explore(WithPatience({.linger = Duration(0)})), 1000u);
}

TEST(ResidenceModel, DedicatedLosesNoWakeUp) {
  EXPECT_GT(Explore(WithPatience({.dedicated = true})), 1000u);
}

TEST(ResidenceModel, SynchronousLaunchesLoseNoWakeUp) {
  EXPECT_GT(Explore(WithPatience({.synchronous_launch = true})), 100u);
}

}  // namespace
}  // namespace gpuos::executor
