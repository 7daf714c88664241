#include "daemon/executor/releases.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using ::testing::ElementsAre;

class FakeSegments final : public device::Segments {
 public:
  absl::StatusOr<device::Segment> ImportMemoryFile(int) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::StatusOr<device::Segment> ImportCudaIpc(absl::Span<const std::byte>,
                                                const std::string&) override {
    return absl::UnimplementedError("not in this test");
  }
  absl::Status Release(const device::Segment& segment) override {
    released.push_back(segment.id);
    return segment.id == 13 ? absl::InternalError("the driver refused") : absl::OkStatus();
  }
  bool ReleaseWaitsForWorker() const override { return waits; }

  bool waits = false;
  std::vector<std::uint64_t> released;
};

HeldSegment MakeSegment(std::uint64_t id) {
  return std::make_shared<const device::Segment>(device::Segment{.size = 64, .id = id});
}

TEST(Releases, LetGoWhatNobodyElseHolds) {
  FakeSegments segments;
  Releases releases(segments);
  const HeldSegment used = MakeSegment(1);
  releases.Add(used, {.session = 5, .ticket = 50});
  releases.Add(MakeSegment(2), {.session = 5, .ticket = 51});
  const auto released = releases.Run(/*parked=*/false);
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].owner.ticket, 51u);
  EXPECT_THAT(segments.released, ElementsAre(2));
  EXPECT_EQ(releases.CountOf(5), 1u);
}

TEST(Releases, FollowWhenTheLastUserLetsGo) {
  FakeSegments segments;
  Releases releases(segments);
  HeldSegment used = MakeSegment(1);
  releases.Add(used, {.session = 5, .ticket = 50});
  EXPECT_TRUE(releases.Run(true).empty());
  used.reset();
  EXPECT_EQ(releases.Run(true).size(), 1u);
  EXPECT_EQ(releases.count(), 0u);
}

TEST(Releases, WaitForTheWorkerOnlyWhereTheDeviceNeedsIt) {
  FakeSegments segments;
  segments.waits = true;
  Releases releases(segments);
  releases.Add(MakeSegment(1), {.session = 5, .ticket = 50});
  EXPECT_TRUE(releases.wants_park());
  EXPECT_TRUE(releases.Run(/*parked=*/false).empty());
  EXPECT_EQ(releases.Run(/*parked=*/true).size(), 1u);
  EXPECT_FALSE(releases.wants_park());
}

TEST(Releases, AskForNoParkWhileTheirSegmentsAreInUse) {
  FakeSegments segments;
  segments.waits = true;
  Releases releases(segments);
  const HeldSegment used = MakeSegment(1);
  releases.Add(used, {.session = 5, .ticket = 50});
  EXPECT_FALSE(releases.wants_park());
}

TEST(Releases, PassOnWhatTheDeviceSays) {
  FakeSegments segments;
  Releases releases(segments);
  releases.Add(MakeSegment(13), {.session = 5, .ticket = 50});
  const auto released = releases.Run(false);
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(releases.count(), 0u);
}

}  // namespace
}  // namespace gpuos::executor
