#include "daemon/program/extent.h"

#include <cstdint>
#include <initializer_list>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/abi/dtype.h"

namespace gpuos::program {
namespace {

abi::View MakeView(std::uint64_t offset, std::initializer_list<std::int64_t> sizes,
                   std::initializer_list<std::int64_t> strides,
                   abi::DType dtype = abi::DType::kF32) {
  abi::View view{};
  view.dtype = dtype;
  view.dims = static_cast<std::uint8_t>(sizes.size());
  view.offset = offset;
  view.elements = 1;
  for (std::uint32_t d = 0; d < abi::kMaxDims; ++d) view.sizes[d] = 1;
  std::uint32_t d = 0;
  for (const std::int64_t size : sizes) view.elements *= view.sizes[d++] = size;
  d = 0;
  for (const std::int64_t stride : strides) view.strides[d++] = stride;
  return view;
}

// Every byte of a view, element by element.
std::set<std::uint64_t> BytesOf(const abi::View& view) {
  std::set<std::uint64_t> bytes;
  for (std::int64_t element = 0; element < view.elements; ++element) {
    std::int64_t rest = element;
    std::int64_t place = 0;
    for (int d = view.dims - 1; d >= 0; --d) {
      place += rest % view.sizes[d] * view.strides[d];
      rest /= view.sizes[d];
    }
    for (std::uint64_t k = 0; k < abi::SizeOf(view.dtype); ++k) {
      bytes.insert(view.offset + static_cast<std::uint64_t>(place) * abi::SizeOf(view.dtype) + k);
    }
  }
  return bytes;
}

std::set<std::uint64_t> BytesOf(const Footprint& footprint) {
  std::vector<ByteRange> runs;
  AppendRuns(footprint, runs);
  EXPECT_EQ(runs.size(), footprint.runs());
  std::set<std::uint64_t> bytes;
  for (const ByteRange& run : runs) {
    for (std::uint64_t byte = run.begin; byte < run.end; ++byte) bytes.insert(byte);
  }
  return bytes;
}

bool ShareBytes(const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
  for (const std::uint64_t byte : a) {
    if (b.count(byte) != 0) return true;
  }
  return false;
}

abi::View RandomView(std::mt19937_64& random) {
  constexpr abi::DType kDTypes[] = {abi::DType::kF32, abi::DType::kI64, abi::DType::kBool};
  abi::View view{};
  view.dtype = kDTypes[random() % 3];
  view.dims = static_cast<std::uint8_t>(random() % 5);
  view.offset = random() % 40 * abi::SizeOf(view.dtype);
  view.elements = 1;
  for (std::uint32_t d = 0; d < abi::kMaxDims; ++d) {
    const bool used = d < view.dims;
    view.sizes[d] = used ? static_cast<std::int64_t>(random() % 6) : 1;
    // Mostly strides that people make, some without any sense.
    view.strides[d] =
        used ? static_cast<std::int64_t>(random() % 4 == 0 ? random() % 23 : 1u << (random() % 6))
             : 0;
    view.elements *= view.sizes[d];
  }
  return view;
}

TEST(Extent, DenseViewsAreOneRunInAnyOrderOfDimensions) {
  const Footprint rows = FootprintOf(MakeView(8, {4, 6}, {6, 1}));
  EXPECT_TRUE(rows.dense());
  EXPECT_EQ(rows.range(), (ByteRange{8, 8 + 96}));
  EXPECT_EQ(FootprintOf(MakeView(8, {6, 4}, {1, 6})), rows);
  EXPECT_EQ(FootprintOf(MakeView(8, {7, 6, 1, 4}, {0, 1, 99, 6})), rows);
  EXPECT_EQ(FootprintOf(MakeView(8, {24}, {1})), rows);
}

TEST(Extent, OverlappingWindowsAreOneRun) {
  const Footprint windows = FootprintOf(MakeView(0, {5, 4}, {2, 1}));
  EXPECT_TRUE(windows.dense());
  EXPECT_EQ(windows.range(), (ByteRange{0, 48}));
}

TEST(Extent, ViewsWithoutElementsTouchNothing) {
  const Footprint nothing = FootprintOf(MakeView(12, {3, 0}, {1, 1}));
  EXPECT_TRUE(nothing.empty());
  EXPECT_EQ(nothing.runs(), 0u);
  EXPECT_FALSE(MayOverlap(nothing, nothing));
}

TEST(Extent, NeighbouringRangesAreDisjoint) {
  const Footprint left = FootprintOf(MakeView(0, {4}, {1}));
  EXPECT_FALSE(MayOverlap(left, FootprintOf(MakeView(16, {4}, {1}))));
  EXPECT_TRUE(MayOverlap(left, FootprintOf(MakeView(12, {4}, {1}))));
  EXPECT_TRUE(MayOverlap(left, FootprintOf(MakeView(15, {1}, {1}, abi::DType::kBool))));
}

TEST(Extent, ColumnsOfAMatrixAreDisjoint) {
  constexpr std::int64_t kRows = std::int64_t{1} << 30;
  const Footprint column0 = FootprintOf(MakeView(0, {kRows}, {1000}));
  const Footprint column1 = FootprintOf(MakeView(4, {kRows}, {1000}));
  const Footprint columns1to8 = FootprintOf(MakeView(4, {kRows, 8}, {1000, 1}));
  const Footprint row = FootprintOf(MakeView(4000 * 77, {1000}, {1}));
  EXPECT_FALSE(MayOverlap(column0, column1));
  EXPECT_FALSE(MayOverlap(column0, columns1to8));
  EXPECT_TRUE(MayOverlap(column1, columns1to8));
  EXPECT_TRUE(MayOverlap(column0, row));
  EXPECT_EQ(columns1to8.runs(), static_cast<std::uint64_t>(kRows));
}

TEST(Extent, ColumnsOfDifferentHeightAndPitchAreComparedByResidue) {
  const Footprint evens = FootprintOf(MakeView(0, {1000}, {2}));
  const Footprint odds = FootprintOf(MakeView(4, {300}, {6}));
  EXPECT_FALSE(MayOverlap(evens, odds));
  EXPECT_TRUE(MayOverlap(evens, FootprintOf(MakeView(4, {300}, {7}))));
}

TEST(Extent, BlocksOfAMatrixAreDisjoint) {
  const auto block = [](std::uint64_t row, std::uint64_t column) {
    return FootprintOf(MakeView((row * 4096 + column) * 4, {64, 64}, {4096, 1}));
  };
  EXPECT_FALSE(MayOverlap(block(0, 0), block(0, 64)));
  EXPECT_FALSE(MayOverlap(block(0, 0), block(64, 0)));
  EXPECT_FALSE(MayOverlap(block(64, 128), block(0, 192)));
  EXPECT_TRUE(MayOverlap(block(0, 0), block(63, 63)));
}

TEST(Extent, HandlesExtentsNearTheEndOf64Bits) {
  constexpr std::int64_t kHuge = (std::int64_t{1} << 62) - 1;
  const Footprint sparse = FootprintOf(MakeView(0, {3}, {kHuge}, abi::DType::kBool));
  EXPECT_EQ(sparse.range().end, 2 * static_cast<std::uint64_t>(kHuge) + 1);
  const Footprint middle =
      FootprintOf(MakeView(static_cast<std::uint64_t>(kHuge), {1}, {1}, abi::DType::kBool));
  EXPECT_TRUE(MayOverlap(sparse, middle));
  const Footprint behind =
      FootprintOf(MakeView(static_cast<std::uint64_t>(kHuge) + 1, {1}, {1}, abi::DType::kBool));
  EXPECT_FALSE(MayOverlap(sparse, behind));
}

TEST(Extent, CountsMoreRunsThan64BitsHold) {
  Footprint footprint{.begin = 0, .run = 1, .loop_count = 8};
  for (Footprint::Loop& loop : footprint.loops) loop = {1, std::uint64_t{1} << 10};
  EXPECT_EQ(footprint.runs(), ~std::uint64_t{0});
}

TEST(Extent, FootprintsAreExactlyTheBytesOfTheirViews) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const abi::View view = RandomView(random);
    ASSERT_EQ(BytesOf(FootprintOf(view)), BytesOf(view)) << "view " << i;
  }
}

TEST(Extent, BlurredFootprintsCoverTheirOriginalsWithinTheirRange) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const Footprint footprint = FootprintOf(RandomView(random));
    const std::uint64_t max_runs = 1 + random() % 8;
    const Footprint blurred = Blur(footprint, max_runs);
    ASSERT_LE(blurred.runs(), max_runs);
    ASSERT_EQ(blurred.range(), footprint.range());
    const std::set<std::uint64_t> wide = BytesOf(blurred);
    for (const std::uint64_t byte : BytesOf(footprint)) ASSERT_EQ(wide.count(byte), 1u);
    if (footprint.runs() <= max_runs) {
      ASSERT_EQ(blurred, footprint);
    }
  }
}

TEST(Extent, NeverCallsViewsDisjointThatShareBytesAndRarelyTheOtherWayRound) {
  std::mt19937_64 random(3);
  int disjoint = 0;
  int precautions = 0;
  for (int i = 0; i < 6000; ++i) {
    const abi::View a = RandomView(random);
    const abi::View b = RandomView(random);
    const bool share = ShareBytes(BytesOf(a), BytesOf(b));
    const bool may = MayOverlap(FootprintOf(a), FootprintOf(b));
    ASSERT_TRUE(may || !share) << "pair " << i;
    ASSERT_EQ(may, MayOverlap(FootprintOf(b), FootprintOf(a))) << "pair " << i;
    disjoint += share ? 0 : 1;
    precautions += may && !share ? 1 : 0;
  }
  RecordProperty("disjoint_pairs", disjoint);
  RecordProperty("called_overlapping", precautions);
  EXPECT_GT(disjoint, 1000);
  // Of a thousand pairs that are disjoint, at most this many are taken to overlap.
  EXPECT_LE(precautions * 1000, disjoint * 2) << precautions << " of " << disjoint;
}

}  // namespace
}  // namespace gpuos::program
