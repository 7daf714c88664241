#include "daemon/program/test_programs.h"

#include <algorithm>
#include <utility>

#include "daemon/program/program_image.h"

namespace gpuos::program {
namespace {

using ops::Access;

std::vector<abi::DType> AnyDType() {
  return {abi::DType::kF32, abi::DType::kI64, abi::DType::kBool};
}

ops::Signature Make(std::string name, std::vector<std::pair<std::string, Access>> operands,
                    ops::ShapeRule rule = ops::ShapeRule::kUnconstrained) {
  ops::Signature signature;
  signature.name = std::move(name);
  signature.rule = rule;
  signature.dtypes = ops::DTypeRule::kFree;
  for (auto& [operand, access] : operands) {
    signature.operands.push_back({std::move(operand), access, AnyDType()});
  }
  return signature;
}

ops::Attribute MakeAttribute(std::string name, ops::AttributeKind kind, double f, std::int64_t i) {
  ops::Attribute attribute{.name = std::move(name), .kind = kind, .default_value = {}};
  if (kind == ops::AttributeKind::kFloat) {
    attribute.default_value.f = f;
  } else {
    attribute.default_value.i = i;
  }
  return attribute;
}

std::vector<ops::Signature> MakeCatalog() {
  std::vector<ops::Signature> catalog = {
      Make("nop", {}),
      Make("use", {{"a", Access::kRead}}),
      Make("set", {{"out", Access::kWrite}}),
      Make("copy", {{"out", Access::kWrite}, {"a", Access::kRead}}, ops::ShapeRule::kElementwise),
      Make("mix", {{"out", Access::kWrite}, {"a", Access::kRead}, {"b", Access::kRead}}),
      Make("count", {{"flags", Access::kAtomic}}),
      Make("gather", {{"out", Access::kWrite}, {"flags", Access::kAtomic}, {"a", Access::kRead}}),
      Make("scale", {{"out", Access::kWrite}, {"a", Access::kRead}}, ops::ShapeRule::kElementwise),
  };
  catalog.back().attributes = {MakeAttribute("alpha", ops::AttributeKind::kFloat, 1.5, 0),
                               MakeAttribute("steps", ops::AttributeKind::kInt, 0, 3),
                               MakeAttribute("exact", ops::AttributeKind::kBool, 0, 1)};
  return catalog;
}

// A view that lies in its slot, with sizes and strides of no particular sense.
v1::View RandomView(std::mt19937_64& random, const v1::Program& program) {
  for (;;) {
    v1::View view;
    view.set_slot(static_cast<std::uint32_t>(random() % program.slots_size()));
    view.set_dtype(static_cast<v1::DType>(1 + random() % 3));
    const std::uint64_t element = view.dtype() == v1::DTYPE_F32   ? 4
                                  : view.dtype() == v1::DTYPE_I64 ? 8
                                                                  : 1;
    std::uint64_t reach = element;
    const int dims = static_cast<int>(random() % 4);
    for (int d = 0; d < dims; ++d) {
      const std::uint64_t size = random() % 16 == 0 ? 0 : 1 + random() % 5;
      const std::uint64_t stride = random() % 3 == 0 ? random() % 13 : 1u << (random() % 5);
      view.add_sizes(static_cast<std::int64_t>(size));
      view.add_strides(static_cast<std::int64_t>(stride));
      if (size > 1) reach += (size - 1) * stride * element;
    }
    const std::uint64_t length = program.slots(static_cast<int>(view.slot())).length();
    if (reach > length) continue;
    view.set_offset(random() % ((length - reach) / element + 1) * element);
    return view;
  }
}

v1::Task RandomTask(std::mt19937_64& random, const v1::Program& program) {
  const ops::Signature& signature = TestCatalog()[random() % TestCatalog().size()];
  v1::Task task;
  task.set_op(signature.name);
  for (std::size_t i = 0; i < signature.operands.size(); ++i) {
    *task.add_operands() = RandomView(random, program);
  }
  return task;
}

bool IsAccepted(const v1::Program& slots, const v1::Task& task) {
  v1::Program alone = slots;
  alone.clear_tasks();
  *alone.add_tasks() = task;
  return BuildImage(alone, TestCatalog(), Limits{.runner_blocks = 4, .ready_capacity = 64}).ok();
}

}  // namespace

const std::vector<ops::Signature>& TestCatalog() {
  static const auto& kCatalog = *new std::vector<ops::Signature>(MakeCatalog());
  return kCatalog;
}

v1::View MakeView(std::uint32_t slot, std::uint64_t offset,
                  std::initializer_list<std::int64_t> sizes,
                  std::initializer_list<std::int64_t> strides, v1::DType dtype) {
  v1::View view;
  view.set_slot(slot);
  view.set_offset(offset);
  view.set_dtype(dtype);
  for (const std::int64_t size : sizes) view.add_sizes(size);
  for (const std::int64_t stride : strides) view.add_strides(stride);
  return view;
}

v1::View Elements(std::uint32_t slot, std::uint64_t first, std::int64_t count) {
  return MakeView(slot, first * 4, {count}, {1});
}

void AddSlot(std::uint64_t length, v1::Program& program) {
  program.add_slots()->set_length(length);
}

v1::Task& AddTask(const std::string& op, std::initializer_list<v1::View> operands,
                  v1::Program& program) {
  v1::Task& task = *program.add_tasks();
  task.set_op(op);
  for (const v1::View& operand : operands) *task.add_operands() = operand;
  return task;
}

v1::Program RandomProgram(std::mt19937_64& random, int max_tasks, bool after) {
  v1::Program slots;
  const std::uint64_t slot_count = 1 + random() % 3;
  for (std::uint64_t i = 0; i < slot_count; ++i) AddSlot(32 + random() % 200, slots);
  v1::Program program = slots;
  const int tasks = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(max_tasks));
  while (program.tasks_size() < tasks) {
    v1::Task task = RandomTask(random, slots);
    if (!IsAccepted(slots, task)) continue;
    const auto earlier = static_cast<std::uint64_t>(program.tasks_size());
    if (after && earlier > 0 && random() % 4 == 0) {
      task.add_after(static_cast<std::uint32_t>(random() % earlier));
    }
    *program.add_tasks() = std::move(task);
  }
  return program;
}

}  // namespace gpuos::program
