// Requests that no library would send: whatever comes, BuildImage refuses it or makes a sound
// image.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "daemon/program/image_check.h"
#include "daemon/program/program_image.h"
#include "daemon/program/test_programs.h"
#include "gtest/gtest.h"

namespace gpuos::program {
namespace {

constexpr Limits kLimits{.runner_blocks = 8, .ready_capacity = 4096};

// Numbers at which arithmetic turns.
std::uint64_t EdgeNumber(std::mt19937_64& random) {
  const std::uint64_t power = std::uint64_t{1} << (random() % 64);
  switch (random() % 6) {
    case 0:
      return random() % 16;
    case 1:
      return power;
    case 2:
      return power - 1;
    case 3:
      return ~std::uint64_t{0} - random() % 16;
    case 4:
      return power + random() % 16;
    default:
      return random();
  }
}

void MutateView(std::mt19937_64& random, v1::View& view) {
  switch (random() % 8) {
    case 0:
      view.set_slot(static_cast<std::uint32_t>(EdgeNumber(random)));
      break;
    case 1:
      view.set_offset(EdgeNumber(random));
      break;
    case 2:
      view.set_dtype(static_cast<v1::DType>(static_cast<std::int32_t>(EdgeNumber(random))));
      break;
    case 3:
      view.add_sizes(static_cast<std::int64_t>(EdgeNumber(random)));
      view.add_strides(static_cast<std::int64_t>(EdgeNumber(random)));
      break;
    case 4:
      view.add_sizes(1);
      break;
    case 5:
      view.clear_strides();
      break;
    default:
      if (view.sizes_size() == 0) break;
      if (random() % 2 == 0) {
        view.set_sizes(static_cast<int>(random() % view.sizes_size()),
                       static_cast<std::int64_t>(EdgeNumber(random)));
      } else if (view.strides_size() > 0) {
        view.set_strides(static_cast<int>(random() % view.strides_size()),
                         static_cast<std::int64_t>(EdgeNumber(random)));
      }
  }
}

void MutateTask(std::mt19937_64& random, v1::Task& task) {
  switch (random() % 6) {
    case 0:
      task.add_after(static_cast<std::uint32_t>(EdgeNumber(random)));
      break;
    case 1:
      task.set_op(TestCatalog()[random() % TestCatalog().size()].name);
      break;
    case 2: {
      v1::Attribute& attribute = *task.add_attributes();
      constexpr const char* kNames[] = {"alpha", "steps", "exact", "", "gamma"};
      attribute.set_name(kNames[random() % 5]);
      if (random() % 2 == 0) attribute.mutable_value()->set_i(static_cast<std::int64_t>(random()));
      if (random() % 2 == 0) attribute.mutable_value()->set_f(static_cast<double>(random()));
      if (random() % 2 == 0) attribute.mutable_value()->set_b(true);
      break;
    }
    default:
      if (task.operands_size() == 0) break;
      MutateView(random, *task.mutable_operands(static_cast<int>(random() % task.operands_size())));
  }
}

void Mutate(std::mt19937_64& random, v1::Program& program) {
  if (random() % 8 == 0) {
    program.mutable_slots(static_cast<int>(random() % program.slots_size()))
        ->set_length(EdgeNumber(random));
    return;
  }
  if (program.tasks_size() == 0) return;
  MutateTask(random, *program.mutable_tasks(static_cast<int>(random() % program.tasks_size())));
}

// Elements that the checker would visit one by one.
bool IsSmall(const v1::Program& program) {
  for (const v1::Task& task : program.tasks()) {
    for (const v1::View& view : task.operands()) {
      double elements = 1;
      for (const std::int64_t size : view.sizes()) elements *= static_cast<double>(size);
      if (elements > 10000) return false;
    }
  }
  return true;
}

// Builds `program`; whether it was accepted. What is accepted must be sound.
bool Feed(const v1::Program& program) {
  const absl::StatusOr<Image> image = BuildImage(program, TestCatalog(), kLimits);
  if (!image.ok()) {
    EXPECT_FALSE(image.status().message().empty());
    EXPECT_TRUE(image.status().code() == absl::StatusCode::kInvalidArgument ||
                image.status().code() == absl::StatusCode::kNotFound)
        << image.status();
    return false;
  }
  const absl::Status status =
      IsSmall(program) ? CheckImage(*image, TestCatalog()).status() : CheckViews(*image);
  EXPECT_TRUE(status.ok()) << status << "\n" << program.DebugString();
  return true;
}

TEST(ProgramImageFuzz, MutatedProgramsAreRefusedOrSound) {
  std::mt19937_64 random(20261202);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 250; ++round) {
    v1::Program program = RandomProgram(random, 12, /*after=*/true);
    for (int step = 0; step < 12; ++step) {
      v1::Program mutated = program;
      Mutate(random, mutated);
      const bool good = Feed(mutated);
      ++(good ? accepted : refused);
      // Goes on from what was accepted, so that oddities add up.
      if (good) program = mutated;
    }
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(refused, 300);
}

TEST(ProgramImageFuzz, DamagedBytesAreRefusedOrSound) {
  std::mt19937_64 random(20261203);
  int parsed = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = RandomProgram(random, 6, /*after=*/true).SerializeAsString();
    for (std::uint64_t i = 0; i <= random() % 4; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    v1::Program program;
    if (!program.ParseFromString(bytes)) continue;
    ++parsed;
    Feed(program);
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace gpuos::program
