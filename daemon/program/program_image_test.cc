#include "daemon/program/program_image.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/program/image_check.h"
#include "daemon/program/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/abi/program.h"

namespace gpuos::program {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr Limits kLimits{.runner_blocks = 8, .ready_capacity = 1u << 20};
constexpr std::int64_t kMaxI64 = std::numeric_limits<std::int64_t>::max();

absl::StatusOr<Image> Build(const v1::Program& program, const Limits& limits = kLimits) {
  return BuildImage(program, TestCatalog(), limits);
}

void ExpectRefused(const v1::Program& program, const std::string& sentence,
                   absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const absl::StatusOr<Image> image = Build(program);
  ASSERT_EQ(image.status().code(), code) << image.status();
  EXPECT_THAT(std::string(image.status().message()), HasSubstr(sentence));
}

abi::Program HeaderOf(const Image& image) {
  abi::Program header;
  std::memcpy(&header, image.bytes.data(), sizeof(header));
  return header;
}

std::vector<abi::Task> TasksOf(const Image& image) {
  std::vector<abi::Task> tasks(HeaderOf(image).task_count);
  std::memcpy(tasks.data(), image.bytes.data() + HeaderOf(image).tasks,
              tasks.size() * sizeof(abi::Task));
  return tasks;
}

v1::Attribute MakeAttribute(const std::string& name) {
  v1::Attribute attribute;
  attribute.set_name(name);
  return attribute;
}

// One slot of 64 bytes and no tasks.
v1::Program Start() {
  v1::Program program;
  AddSlot(64, program);
  return program;
}

TEST(ProgramImage, ProgramWithoutTasksIsAHeader) {
  const absl::StatusOr<Image> image = Build(v1::Program());
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->bytes.size(), sizeof(abi::Program));
  EXPECT_EQ(image->tasks, 0u);
  EXPECT_EQ(image->ready_items, 0u);
  EXPECT_TRUE(CheckImage(*image, TestCatalog()).ok());
}

TEST(ProgramImage, TellsTasksEdgesCallsAndSlotUse) {
  v1::Program program = Start();
  AddSlot(64, program);
  AddSlot(64, program);
  AddTask("set", {Elements(0, 0, 4)}, program);
  AddTask("copy", {Elements(1, 0, 4), Elements(0, 0, 4)}, program);
  AddTask("copy", {Elements(1, 4, 4), Elements(0, 0, 4)}, program);
  AddTask("use", {Elements(1, 0, 8)}, program);
  AddTask("use", {Elements(2, 0, 0)}, program);
  const absl::StatusOr<Image> image = Build(program);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->tasks, 5u);
  EXPECT_EQ(image->edges, 4u);
  EXPECT_THAT(image->calls, ElementsAre(Pair(1, 2), Pair(2, 1), Pair(3, 2)));
  EXPECT_EQ(image->slots.size(), 3u);
  EXPECT_EQ(image->slots[0].length, 64u);
  EXPECT_TRUE(image->slots[0].read && image->slots[0].written);
  EXPECT_TRUE(image->slots[1].read && image->slots[1].written);
  EXPECT_FALSE(image->slots[2].read || image->slots[2].written);
  const auto report = CheckImage(*image, TestCatalog());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->unjustified_edges, 0u);
}

TEST(ProgramImage, AtomicOperandsCountAsReadAndWritten) {
  v1::Program program = Start();
  AddTask("count", {Elements(0, 0, 4)}, program);
  const absl::StatusOr<Image> image = Build(program);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->slots[0].read && image->slots[0].written);
}

TEST(ProgramImage, UnknownOperatorIsNotFoundWithCloseNames) {
  v1::Program program = Start();
  AddTask("nop", {}, program);
  AddTask("copi", {}, program);
  ExpectRefused(program,
                "tasks[1].op is \"copi\", and there is no such operator; did you mean \"copy\"?",
                absl::StatusCode::kNotFound);
  program.mutable_tasks(1)->set_op("convolution");
  ExpectRefused(program, "gpuosctl ops list shows what there is", absl::StatusCode::kNotFound);
  program.mutable_tasks(1)->set_op("a\nb");
  ExpectRefused(program, "tasks[1].op is \"a\\nb\"", absl::StatusCode::kNotFound);
  program.mutable_tasks(1)->set_op("");
  ExpectRefused(program, "tasks[1].op is \"\"", absl::StatusCode::kNotFound);
  program.mutable_tasks(1)->set_op(std::string(129, 'a'));
  ExpectRefused(program, "tasks[1].op has 129 bytes; at most 128 are allowed");
}

TEST(ProgramImage, RefusesWrongNumbersOfOperands) {
  v1::Program program = Start();
  AddTask("copy", {Elements(0, 0, 4)}, program);
  ExpectRefused(program, "tasks[0].operands has 1 views; copy takes 2: out, a");
  program.clear_tasks();
  AddTask("nop", {Elements(0, 0, 4)}, program);
  ExpectRefused(program, "tasks[0].operands has 1 views; nop takes 0");
}

TEST(ProgramImage, RefusesViewsByTheirField) {
  v1::Program program = Start();
  AddTask("nop", {}, program);
  AddTask("copy", {Elements(0, 0, 4), Elements(0, 8, 9)}, program);
  ExpectRefused(program, "tasks[1].operands[1] ends at byte 68 of slots[0], which has 64 bytes");
  *program.mutable_tasks(1)->mutable_operands(1) = MakeView(0, 0, {4}, {-1});
  ExpectRefused(program, "tasks[1].operands[1].strides[0] is -1; strides must be 0 or more");
  *program.mutable_tasks(1)->mutable_operands(1) = MakeView(0, 0, {4, kMaxI64}, {kMaxI64, 4});
  ExpectRefused(program, "tasks[1].operands[1]");
  *program.mutable_tasks(1)->mutable_operands(0) = MakeView(0, 0, {4}, {0});
  ExpectRefused(program, "tasks[1].operands[0].strides[0] is 0 over a size of 4 in an output");
}

TEST(ProgramImage, PassesOnWhatTheOperatorsRuleRefuses) {
  v1::Program program = Start();
  AddTask("copy", {Elements(0, 0, 4), Elements(0, 8, 3)}, program);
  ExpectRefused(program, "tasks[0] (copy): operand 1 (a) has shape [3]");
}

TEST(ProgramImage, FillsDefaultsAndTakesWhatIsGiven) {
  v1::Program program = Start();
  AddTask("scale", {Elements(0, 0, 4), Elements(0, 4, 4)}, program);
  v1::Task& task = AddTask("scale", {Elements(0, 0, 4), Elements(0, 4, 4)}, program);
  *task.add_attributes() = MakeAttribute("exact");
  task.mutable_attributes(0)->mutable_value()->set_b(false);
  *task.add_attributes() = MakeAttribute("alpha");
  task.mutable_attributes(1)->mutable_value()->set_i(-2);
  *task.add_attributes() = MakeAttribute("steps");
  task.mutable_attributes(2)->mutable_value()->set_i(kMaxI64);
  const absl::StatusOr<Image> image = Build(program);
  ASSERT_TRUE(image.ok()) << image.status();
  const std::vector<abi::Task> tasks = TasksOf(*image);
  EXPECT_EQ(tasks[0].attribute_count, 3);
  EXPECT_EQ(tasks[0].attributes[0].f, 1.5);
  EXPECT_EQ(tasks[0].attributes[1].i, 3);
  EXPECT_EQ(tasks[0].attributes[2].i, 1);
  EXPECT_EQ(tasks[1].attributes[0].f, -2.0);
  EXPECT_EQ(tasks[1].attributes[1].i, kMaxI64);
  EXPECT_EQ(tasks[1].attributes[2].i, 0);
}

TEST(ProgramImage, RefusesAttributesThatTheOperatorDoesNotTake) {
  v1::Program program = Start();
  v1::Task& task = AddTask("scale", {Elements(0, 0, 4), Elements(0, 4, 4)}, program);
  *task.add_attributes() = MakeAttribute("alpa");
  ExpectRefused(program,
                "tasks[0].attributes[0].name is \"alpa\"; the attributes of scale are: "
                "alpha, steps, exact");
  *task.mutable_attributes(0) = MakeAttribute("alpha");
  ExpectRefused(program,
                "tasks[0].attributes[0].value is not set; alpha of scale must be a number");
  task.mutable_attributes(0)->mutable_value()->set_f(0.5);
  *task.add_attributes() = task.attributes(0);
  ExpectRefused(program, "tasks[0].attributes[1].name is \"alpha\" for the second time");
  *task.mutable_attributes(1) = MakeAttribute("steps");
  task.mutable_attributes(1)->mutable_value()->set_f(1);
  ExpectRefused(program, "attributes[1].value is f; steps of scale must be a whole number (i)");
  task.mutable_attributes(1)->set_name("exact");
  ExpectRefused(program, "attributes[1].value is f; exact of scale must be true or false (b)");
  program.clear_tasks();
  *AddTask("nop", {}, program).add_attributes() = MakeAttribute("x");
  ExpectRefused(program, "the attributes of nop are: none");
}

TEST(ProgramImage, ListsTheTasksOfACycle) {
  v1::Program program = Start();
  for (int i = 0; i < 8; ++i) AddTask("nop", {}, program);
  program.mutable_tasks(3)->add_after(7);
  program.mutable_tasks(7)->add_after(3);
  ExpectRefused(program, "tasks 3 -> 7 -> 3 wait for each other");
  program.mutable_tasks(3)->clear_after();
  program.mutable_tasks(5)->add_after(5);
  ExpectRefused(program, "tasks[5].after names the task itself");
}

TEST(ProgramImage, AfterMustNotTurnRoundTheOrderOfOperands) {
  v1::Program program = Start();
  AddTask("set", {Elements(0, 0, 4)}, program).add_after(1);
  AddTask("use", {Elements(0, 0, 4)}, program);
  ExpectRefused(program, "tasks 0 -> 1 -> 0 wait for each other");
}

TEST(ProgramImage, LongCyclesAreShortened) {
  v1::Program program = Start();
  for (std::uint32_t i = 0; i < 1000; ++i) AddTask("nop", {}, program).add_after((i + 999) % 1000);
  ExpectRefused(program,
                "tasks 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> 10 -> 11 -> "
                "(988 more) -> 0 wait for each other");
}

TEST(ProgramImage, AfterMayNameLaterTasksButOnlyTasks) {
  v1::Program program = Start();
  AddTask("nop", {}, program).add_after(1);
  AddTask("nop", {}, program);
  const absl::StatusOr<Image> image = Build(program);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(TasksOf(*image)[0].predecessors, 1u);
  EXPECT_TRUE(CheckImage(*image, TestCatalog()).ok());
  program.mutable_tasks(1)->add_after(2);
  ExpectRefused(program, "tasks[1].after[0] is 2, but the program has 2 tasks");
}

TEST(ProgramImage, RefusesTooManySlotsAndTasks) {
  v1::Program program;
  for (std::uint32_t i = 0; i < abi::kMaxSlots; ++i) AddSlot(4, program);
  EXPECT_TRUE(Build(program).ok());
  AddSlot(4, program);
  ExpectRefused(program, "slots has 4097 entries; at most 4096 are allowed");
  program.clear_slots();
  for (std::uint32_t i = 0; i < abi::kMaxTasks; ++i) AddTask("nop", {}, program);
  EXPECT_TRUE(Build(program).ok());
  AddTask("nop", {}, program);
  ExpectRefused(program, "tasks has 65537 entries; at most 65536 are allowed");
}

TEST(ProgramImage, WidthKeepsReadyItemsWithinTheQueue) {
  v1::Program program;
  constexpr std::int64_t kElements = 1 << 22;
  AddSlot(kElements * 8, program);
  AddTask("copy", {Elements(0, 0, kElements), Elements(0, kElements, kElements)}, program);
  AddTask("nop", {}, program);
  AddTask("copy", {Elements(0, 0, kElements), Elements(0, kElements, kElements)}, program);
  const absl::StatusOr<Image> wide = Build(program, {.runner_blocks = 8, .ready_capacity = 100});
  ASSERT_TRUE(wide.ok()) << wide.status();
  ASSERT_GE(TasksOf(*wide)[0].tiles, 8u) << "the test wants a task of many tiles";
  EXPECT_EQ(HeaderOf(*wide).width, 8u);
  EXPECT_EQ(wide->ready_items, 17u);
  const absl::StatusOr<Image> narrow = Build(program, {.runner_blocks = 8, .ready_capacity = 12});
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_EQ(HeaderOf(*narrow).width, 5u);
  EXPECT_EQ(narrow->ready_items, 11u);
  const absl::StatusOr<Image> none = Build(program, {.runner_blocks = 8, .ready_capacity = 2});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(none.status().message()),
              HasSubstr("tasks has 3 entries, but this device can hold 2 ready ones"));
}

TEST(ProgramImage, TakesSlotsAndViewsBeyond31And63Bits) {
  v1::Program program;
  AddSlot(std::numeric_limits<std::uint64_t>::max(), program);
  constexpr std::int64_t k31 = std::int64_t{1} << 31;
  AddTask("use", {MakeView(0, 0, {k31, k31}, {k31, 1}, v1::DTYPE_BOOL)}, program);
  AddTask("set", {MakeView(0, (std::uint64_t{1} << 62) - 1, {1}, {1}, v1::DTYPE_BOOL)}, program);
  AddTask("set", {MakeView(0, std::uint64_t{1} << 63, {1}, {1}, v1::DTYPE_BOOL)}, program);
  AddTask("use", {MakeView(0, 0, {2}, {kMaxI64}, v1::DTYPE_BOOL)}, program);
  const absl::StatusOr<Image> image = Build(program);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->edges, 1u);
  EXPECT_EQ(TasksOf(*image)[1].predecessors, 1u);
}

TEST(ProgramImage, SameProgramGivesTheSameBytes) {
  std::mt19937_64 random(3);
  const v1::Program program = RandomProgram(random, 40, /*after=*/true);
  const absl::StatusOr<Image> first = Build(program);
  const absl::StatusOr<Image> second = Build(program);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->bytes, second->bytes);
}

}  // namespace
}  // namespace gpuos::program
