#include "daemon/executor/gate.h"

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

class GateTest : public ::testing::Test {
 protected:
  absl::StatusOr<CheckedBatch> Check(const std::vector<program::SlotUse>& slots,
                                     const std::vector<Binding>& bindings) {
    return CheckBindings(slots, bindings, [this](std::uint64_t id) -> const device::Segment* {
      const auto found = segments_.find(id);
      return found == segments_.end() ? nullptr : &found->second;
    });
  }

  std::map<std::uint64_t, device::Segment> segments_{
      {1, {.address = 0x10000, .size = 4096, .id = 71}},
      {2, {.address = 0x20000, .size = 1024, .id = 72}}};
};

program::SlotUse Read(std::uint64_t length) { return {.length = length, .read = true}; }
program::SlotUse Written(std::uint64_t length) { return {.length = length, .written = true}; }

static_assert(!std::is_default_constructible_v<CheckedBatch>, "only the gate makes one");

TEST_F(GateTest, GivesAddressesFootprintAndSegmentsOfWhatPassed) {
  const auto batch = Check({Read(64), Written(128), Read(32)}, {{2, 0}, {1, 256}, {2, 64}});
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_THAT(batch->addresses(), ElementsAre(0x20000, 0x10100, 0x20040));
  EXPECT_THAT(batch->segments(), ElementsAre(1, 2));
  EXPECT_THAT(batch->footprint().read.list(), ElementsAre(Extent{0x20000, 0x20060}));
  EXPECT_THAT(batch->footprint().written.list(), ElementsAre(Extent{0x10100, 0x10180}));
}

TEST_F(GateTest, TakesASlotThatEndsExactlyWithItsSegment) {
  EXPECT_TRUE(Check({Read(1008)}, {{2, 16}}).ok());
  EXPECT_TRUE(Check({Read(0)}, {{2, 1024}}).ok());
}

TEST_F(GateTest, RefusesASegmentThatTheSessionDoesNotHold) {
  const absl::Status status = Check({Read(16), Read(16)}, {{1, 0}, {9, 0}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bindings[1].segment is 9"));
}

TEST_F(GateTest, RefusesAnotherNumberOfBindingsThanSlots) {
  const absl::Status status = Check({Read(16)}, {{1, 0}, {1, 16}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bindings has 2 entries"));
}

TEST_F(GateTest, RefusesAnUnalignedOffset) {
  const absl::Status status = Check({Read(16)}, {{1, 24}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bindings[0].offset is 24"));
}

TEST_F(GateTest, RefusesASlotThatLeavesItsSegmentAlsoWhenTheSumWraps) {
  for (const std::uint64_t offset : {std::uint64_t{1024}, std::uint64_t{1040}, kMax - 15}) {
    const absl::Status status = Check({Read(16)}, {{2, offset}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << offset;
    EXPECT_THAT(std::string(status.message()), HasSubstr("does not fit behind it in segment 2"));
  }
  for (const std::uint64_t length : {std::uint64_t{1025}, kMax, kMax - 15}) {
    EXPECT_EQ(Check({Read(length)}, {{2, 0}}).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(Check({Read(length)}, {{2, 16}}).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(GateTest, RefusesAWrittenSlotOverAnotherAndNamesBoth) {
  const absl::Status status =
      Check({Read(64), Read(512), Written(64)}, {{2, 0}, {1, 0}, {1, 448}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bindings[1] and bindings[2] overlap"));
}

TEST_F(GateTest, TakesOverlappingSlotsThatAreOnlyRead) {
  EXPECT_TRUE(Check({Read(512), Read(512)}, {{1, 0}, {1, 256}}).ok());
}

TEST_F(GateTest, DoesNotMindSlotsThatAreEmptyOrUnused) {
  EXPECT_TRUE(Check({Written(512), Written(0), {.length = 64}}, {{1, 0}, {1, 64}, {1, 64}}).ok());
}

bool MustRefuse(const std::vector<program::SlotUse>& slots, const std::vector<Binding>& bindings) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (slots[i].length == 0 || slots[j].length == 0) continue;
      if (!slots[i].written && !slots[j].written) continue;
      if (bindings[i].offset < bindings[j].offset + slots[j].length &&
          bindings[j].offset < bindings[i].offset + slots[i].length) {
        return true;
      }
    }
  }
  return false;
}

TEST_F(GateTest, RefusesOverlapsExactlyWhereComparingAllPairsDoes) {
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<program::SlotUse> slots;
    std::vector<Binding> bindings;
    for (unsigned i = 0; i < 2 + random() % 5; ++i) {
      const std::uint64_t length = random() % 200;
      slots.push_back(random() % 3 == 0 ? Written(length) : Read(length));
      bindings.push_back({1, random() % 60 * 16});
    }
    const bool ok = Check(slots, bindings).ok();
    EXPECT_EQ(!ok, MustRefuse(slots, bindings));
    refused += !ok;
  }
  EXPECT_GT(refused, 400);
  EXPECT_LT(refused, 3600);
}

}  // namespace
}  // namespace gpuos::executor
