// The worked examples in docs/program-format.md and docs/queue-format.md, byte for byte.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "daemon/program/program_image.h"
#include "gpuos/v1/types.pb.h"
#include "gtest/gtest.h"
#include "kernels/abi/program.h"
#include "kernels/abi/queue.h"
#include "kernels/abi/worker_state.h"
#include "kernels/ops/signature.h"

namespace gpuos {
namespace {

// The text between "```hexdump NAME" and the next "```" of a page.
std::string ExampleOf(const std::string& page, const std::string& name) {
  std::ifstream file("docs/" + page);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::string head = "```hexdump " + name + "\n";
  const std::size_t begin = all.find(head);
  if (begin == std::string::npos) return "docs/" + page + " has no example " + name;
  const std::size_t first = begin + head.size();
  return all.substr(first, all.find("```", first) - first);
}

// Lines of 16 bytes behind their offset; lines of zeros are left out.
std::string Dump(const void* data, std::size_t size, std::size_t first_offset = 0) {
  std::string dump;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t line = 0; line < size; line += 16) {
    std::string text;
    bool zeros = true;
    for (std::size_t i = line; i < size && i < line + 16; ++i) {
      absl::StrAppendFormat(&text, "%s%02x", i % 8 == 0 ? "  " : " ", bytes[i]);
      zeros = zeros && bytes[i] == 0;
    }
    if (!zeros) absl::StrAppendFormat(&dump, "%04x%s\n", first_offset + line, text);
  }
  return dump;
}

ops::Signature MakeOperator(const std::string& name, int inputs) {
  ops::Signature signature;
  signature.name = name;
  signature.rule = ops::ShapeRule::kUnconstrained;
  signature.operands.push_back({"out", ops::Access::kWrite, {abi::DType::kF32}});
  for (int i = 0; i < inputs; ++i) {
    signature.operands.push_back({i == 0 ? "a" : "b", ops::Access::kRead, {abi::DType::kF32}});
  }
  return signature;
}

// Operators 0 to 2 of the example's table.
std::vector<ops::Signature> ExampleCatalog() {
  ops::Attribute alpha{.name = "alpha", .kind = ops::AttributeKind::kFloat, .default_value = {}};
  alpha.default_value.f = 1;
  std::vector<ops::Signature> catalog = {MakeOperator("nop", 0), MakeOperator("add", 2),
                                         MakeOperator("relu", 1)};
  catalog[0].operands.clear();
  catalog[1].attributes.push_back(alpha);
  return catalog;
}

v1::View MakeView(std::uint32_t slot, std::uint64_t offset, std::int64_t stride) {
  v1::View view;
  view.set_slot(slot);
  view.set_offset(offset);
  view.set_dtype(v1::DTYPE_F32);
  view.add_sizes(4);
  view.add_strides(stride);
  return view;
}

// t = a + b, where b is one number; y = relu(t).
v1::Program ExampleProgram() {
  v1::Program program;
  program.add_slots()->set_length(48);
  program.add_slots()->set_length(16);
  v1::Task& add = *program.add_tasks();
  add.set_op("add");
  *add.add_operands() = MakeView(0, 16, 1);
  *add.add_operands() = MakeView(0, 0, 1);
  *add.add_operands() = MakeView(0, 32, 0);
  v1::Task& relu = *program.add_tasks();
  relu.set_op("relu");
  *relu.add_operands() = MakeView(1, 0, 1);
  *relu.add_operands() = MakeView(0, 16, 1);
  return program;
}

TEST(ProgramFormat, WorkedExampleIsWhatBuildImageMakes) {
  const std::vector<ops::Signature> catalog = ExampleCatalog();
  const auto image =
      program::BuildImage(ExampleProgram(), catalog, {.runner_blocks = 4, .ready_capacity = 64});
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(ExampleOf("program-format.md", "program"),
            Dump(image->bytes.data(), image->bytes.size()));
}

TEST(QueueFormat, WorkedExampleIsThePageAfterOneBatchAndAPark) {
  const auto page = std::make_unique<abi::QueuePage>();
  std::memset(page.get(), 0, sizeof(*page));
  page->entries[0] = {.kind = abi::EntryKind::kBatch,
                      .window = 5,
                      .id = 1,
                      .program = 0x7f0000100000,
                      .state = 0x7f0000200000,
                      .table = 0x7f0000300000,
                      .bindings = 0x7f0000400000,
                      .reserved = {}};
  page->entries[1].kind = abi::EntryKind::kPark;
  page->tail = 2;
  page->completions[5] = {.id = 1,
                          .code = abi::BatchCode::kOperatorFailed,
                          .reserved = 0,
                          .detail = std::uint64_t{7} << 32 | 3,
                          .pad = {}};
  page->heartbeat = {.clock_ns = 1000000, .progress = 2, .launch = 1, .left = 1, .pad = {}};
  EXPECT_EQ(ExampleOf("queue-format.md", "page"), Dump(page.get(), sizeof(*page)));
}

TEST(QueueFormat, WorkedExampleOfAReadyItem) {
  const abi::ReadyItem item = abi::MakeReadyItem(/*lap=*/2, /*window=*/5, /*task=*/3);
  EXPECT_EQ(ExampleOf("queue-format.md", "ready-item"), Dump(&item, sizeof(item)));
}

TEST(QueueFormat, WorkedExampleOfABatchState) {
  struct {
    abi::BatchState header;
    abi::DeviceAddress bindings[2];
    abi::TaskState tasks[2];
  } state;
  static_assert(sizeof(state) == abi::BatchStateBytes(2, 2));
  state.header = {.id = 1,
                  .program = 0x7f0000100000,
                  .table = 0x7f0000300000,
                  .tasks_left = 2,
                  .window = 5,
                  .error = 0,
                  .bindings = 0x7f0000200040,
                  .tasks = 0x7f0000200050,
                  .reserved = 0};
  state.bindings[0] = 0x7f0010000000;
  state.bindings[1] = 0x7f0010000400;
  state.tasks[0] = {.pending = 0, .next_tile = 0, .items_left = 1, .reserved = 0};
  state.tasks[1] = {.pending = 1, .next_tile = 0, .items_left = 1, .reserved = 0};
  EXPECT_EQ(ExampleOf("queue-format.md", "batch-state"), Dump(&state, sizeof(state)));
}

}  // namespace
}  // namespace gpuos
