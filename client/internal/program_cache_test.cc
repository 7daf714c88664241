#include "client/internal/program_cache.h"

#include <gtest/gtest.h>

namespace gpuos::internal {
namespace {

ProgramBuilder Scale(double factor) {
  ProgramBuilder program;
  const std::uint32_t slot = program.AddSlot(64);
  const View all = View::Contiguous(slot, DType::kF32, {4, 4});
  program.AddTask("mul", {all, all}, {{"factor", factor}});
  return program;
}

TEST(ProgramCacheTest, EqualProgramsHaveEqualBytes) {
  EXPECT_EQ(CanonicalBytes(Scale(2).program()), CanonicalBytes(Scale(2).program()));
  EXPECT_NE(CanonicalBytes(Scale(2).program()), CanonicalBytes(Scale(3).program()));
  EXPECT_EQ(CanonicalBytes(ProgramBuilder().program()), "");
}

TEST(ProgramCacheTest, FindsWhatWasInsertedUntilItIsForgotten) {
  ProgramCache cache;
  EXPECT_EQ(cache.Find("a"), std::nullopt);
  cache.Insert("a", ProgramId{1});
  cache.Insert("b", ProgramId{2});
  EXPECT_EQ(cache.Find("a"), ProgramId{1});
  cache.Forget(ProgramId{1});
  EXPECT_EQ(cache.Find("a"), std::nullopt);
  EXPECT_EQ(cache.Find("b"), ProgramId{2});
}

}  // namespace
}  // namespace gpuos::internal
