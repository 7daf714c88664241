#include "client/internal/cuda_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "client/testing/status_matchers.h"

namespace gpuos::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

PointerFacts DeviceMemory(std::uint64_t base, std::uint64_t size, std::uint64_t buffer_id) {
  PointerFacts facts;
  facts.kind = PointerFacts::Kind::kDevice;
  facts.legacy_ipc = true;
  facts.base = base;
  facts.size = size;
  facts.buffer_id = buffer_id;
  facts.device_uuid = "GPU-1";
  return facts;
}

// A driver that knows the allocations that a test gives it.
class FakeCudaDriver final : public CudaDriver {
 public:
  absl::StatusOr<PointerFacts> Inspect(std::uint64_t pointer) override {
    for (const auto& [base, facts] : allocations) {
      if (pointer >= base && pointer < base + facts.size) return facts;
    }
    return PointerFacts();
  }
  absl::StatusOr<std::string> ExportHandle(std::uint64_t base) override {
    return "handle of " + std::to_string(base);
  }

  std::map<std::uint64_t, PointerFacts> allocations;
};

class CudaSegmentsTest : public ::testing::Test {
 protected:
  absl::StatusOr<SegmentPosition> Locate(std::uint64_t pointer) {
    return segments_.Locate(
        driver_, pointer,
        [this](const std::string& handle, const std::string& uuid) -> absl::StatusOr<Segment> {
          if (!register_error_.ok()) return register_error_;
          registered_.push_back(handle + " on " + uuid);
          return Segment{SegmentId{registered_.size()}, 4096};
        },
        [this](SegmentId segment) {
          released_.push_back(segment);
          return release_error_;
        });
  }

  FakeCudaDriver driver_;
  CudaSegments segments_;
  absl::Status register_error_;
  absl::Status release_error_;
  std::vector<std::string> registered_;
  std::vector<SegmentId> released_;
};

TEST_F(CudaSegmentsTest, RegistersAnAllocationOnceHoweverManyTensorsLieInIt) {
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 7);
  auto first = Locate(1000);
  auto second = Locate(1512);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(*first, (SegmentPosition{{SegmentId{1}, 4096}, 0}));
  EXPECT_EQ(*second, (SegmentPosition{{SegmentId{1}, 4096}, 512}));
  EXPECT_THAT(registered_, ElementsAre("handle of 1000 on GPU-1"));
}

TEST_F(CudaSegmentsTest, RegistersAgainAndReleasesWhenAnotherAllocationLiesThere) {
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 7);
  ASSERT_THAT(Locate(1000), IsOk());
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 8);
  auto again = Locate(1000);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->segment.id, SegmentId{2});
  EXPECT_THAT(released_, ElementsAre(SegmentId{1}));
}

TEST_F(CudaSegmentsTest, AStaleSegmentThatIsReleasedAlreadyIsNoError) {
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 7);
  ASSERT_THAT(Locate(1000), IsOk());
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 8);
  release_error_ = absl::NotFoundError("gone");
  EXPECT_THAT(Locate(1000), IsOk());
}

TEST_F(CudaSegmentsTest, AReleasedSegmentIsRegisteredAgain) {
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 7);
  ASSERT_THAT(Locate(1000), IsOk());
  segments_.Forget(SegmentId{1});
  auto again = Locate(1000);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->segment.id, SegmentId{2});
  EXPECT_THAT(released_, ElementsAre());
}

TEST_F(CudaSegmentsTest, DoesNotRememberWhatTheDaemonRefused) {
  driver_.allocations[1000] = DeviceMemory(1000, 4096, 7);
  register_error_ = absl::InvalidArgumentError("device_uuid is another GPU");
  EXPECT_THAT(Locate(1000), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another GPU")));
  register_error_ = absl::OkStatus();
  EXPECT_THAT(Locate(1000), IsOk());
}

TEST_F(CudaSegmentsTest, NamesMemoryThatCannotBeSharedAndTheWayOut) {
  struct Case {
    const char* reason;
    const char* way_out;
    absl::StatusCode code;
    PointerFacts facts;
  };
  PointerFacts managed = DeviceMemory(0, 4096, 1);
  managed.managed = true;
  PointerFacts pooled = DeviceMemory(0, 4096, 1);
  pooled.pooled = true;
  pooled.legacy_ipc = false;
  PointerFacts mapped = DeviceMemory(0, 4096, 1);
  mapped.legacy_ipc = false;
  PointerFacts host = DeviceMemory(0, 4096, 1);
  host.kind = PointerFacts::Kind::kHost;
  const Case cases[] = {
      {"cudaMallocManaged", "cudaMalloc", absl::StatusCode::kFailedPrecondition, managed},
      {"cudaMallocAsync pool", "backend:cudaMallocAsync", absl::StatusCode::kFailedPrecondition,
       pooled},
      {"cuMemMap", "expandable_segments:False", absl::StatusCode::kFailedPrecondition, mapped},
      {"host memory", "copy the tensor", absl::StatusCode::kInvalidArgument, host},
      {"not memory", "CUDA tensor", absl::StatusCode::kInvalidArgument, PointerFacts()},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(CheckExportable(0x10, c.facts),
                StatusIs(c.code, ::testing::AllOf(HasSubstr("pointer 0x10"), HasSubstr(c.reason),
                                                  HasSubstr(c.way_out))));
  }
  EXPECT_THAT(Locate(5), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pointer 0x5")));
}

}  // namespace
}  // namespace gpuos::internal
