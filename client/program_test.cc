#include "gpuos/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpuos/v1/types.pb.h"

namespace gpuos {
namespace {

using ::testing::ElementsAre;

TEST(ProgramBuilderTest, CountsSlotsAndTasksFromZero) {
  ProgramBuilder program;
  EXPECT_EQ(program.AddSlot(16), 0u);
  EXPECT_EQ(program.AddSlot(32), 1u);
  EXPECT_EQ(program.AddTask("fill", {}), 0u);
  EXPECT_EQ(program.AddTask("fill", {}, {}, {0}), 1u);
  EXPECT_EQ(program.program().slots(1).length(), 32u);
  EXPECT_THAT(program.program().tasks(1).after(), ElementsAre(0));
}

TEST(ProgramBuilderTest, WritesViewsAndAttributesDown) {
  ProgramBuilder program;
  program.AddTask("op", {View{3, DType::kBool, 8, {2, 5}, {5, 0}}},
                  {{"dim", std::int64_t{-1}}, {"scale", 0.5}, {"keep", true}});
  const v1::Task& task = program.program().tasks(0);
  EXPECT_EQ(task.op(), "op");
  EXPECT_EQ(task.operands(0).slot(), 3u);
  EXPECT_EQ(task.operands(0).dtype(), v1::DTYPE_BOOL);
  EXPECT_EQ(task.operands(0).offset(), 8u);
  EXPECT_THAT(task.operands(0).sizes(), ElementsAre(2, 5));
  EXPECT_THAT(task.operands(0).strides(), ElementsAre(5, 0));
  EXPECT_EQ(task.attributes(0).value().i(), -1);
  EXPECT_EQ(task.attributes(1).value().f(), 0.5);
  EXPECT_TRUE(task.attributes(2).value().b());
}

TEST(ProgramBuilderTest, ContiguousViewsAreRowMajor) {
  const View view = View::Contiguous(1, DType::kI64, {2, 3, 4}, 16);
  EXPECT_THAT(view.strides, ElementsAre(12, 4, 1));
  EXPECT_EQ(view.offset, 16u);
  EXPECT_THAT(View::Contiguous(0, DType::kF32, {}).strides, ElementsAre());
  EXPECT_THAT(View::Contiguous(0, DType::kF32, {0, 7}).strides, ElementsAre(7, 1));
}

}  // namespace
}  // namespace gpuos
