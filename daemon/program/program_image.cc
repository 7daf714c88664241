#include "daemon/program/program_image.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/program/access.h"
#include "daemon/program/attributes.h"
#include "daemon/program/dependencies.h"
#include "daemon/program/extent.h"
#include "daemon/program/field_path.h"
#include "daemon/program/layout.h"
#include "daemon/program/operator_names.h"
#include "daemon/program/task_graph.h"
#include "daemon/program/view_check.h"
#include "daemon/program/width.h"
#include "kernels/abi/limits.h"
#include "kernels/abi/program.h"

namespace gpuos::program {
namespace {

absl::Status CheckCounts(const v1::Program& program) {
  if (program.slots_size() > static_cast<int>(abi::kMaxSlots)) {
    return absl::InvalidArgumentError(absl::StrCat("slots has ", program.slots_size(),
                                                   " entries; at most ", abi::kMaxSlots,
                                                   " are allowed, let tensors share slots"));
  }
  if (program.tasks_size() > static_cast<int>(abi::kMaxTasks)) {
    return absl::InvalidArgumentError(absl::StrCat("tasks has ", program.tasks_size(),
                                                   " entries; at most ", abi::kMaxTasks,
                                                   " are allowed, split the program"));
  }
  return absl::OkStatus();
}

absl::Status CheckOperandCount(const v1::Task& task, std::uint32_t index,
                               const ops::Signature& signature) {
  const std::size_t wanted = signature.operands.size();
  if (static_cast<std::size_t>(task.operands_size()) == wanted) return absl::OkStatus();
  const std::string names = absl::StrJoin(
      signature.operands, ", ",
      [](std::string* text, const ops::Operand& operand) { absl::StrAppend(text, operand.name); });
  return absl::InvalidArgumentError(
      absl::StrCat(TaskPath(index), ".operands has ", task.operands_size(), " views; ",
                   signature.name, " takes ", wanted, wanted == 0 ? "" : ": ", names));
}

// Takes the tasks of a request one by one and collects what the image is made of.
class Builder {
 public:
  Builder(const v1::Program& program, absl::Span<const ops::Signature> catalog)
      : program_(program), catalog_(catalog), names_(catalog), calls_(catalog.size()) {
    for (const v1::Slot& slot : program.slots()) slots_.push_back({.length = slot.length()});
    tasks_.reserve(static_cast<std::size_t>(program.tasks_size()));
  }

  absl::Status AddTask(std::uint32_t index) {
    const v1::Task& request = program_.tasks(static_cast<int>(index));
    const absl::StatusOr<std::uint32_t> op = names_.Find(request.op(), index);
    if (!op.ok()) return op.status();
    const ops::Signature& signature = catalog_[*op];
    if (absl::Status status = CheckOperandCount(request, index, signature); !status.ok()) {
      return status;
    }
    abi::Task task{};
    task.op = *op;
    task.first_view = static_cast<std::uint32_t>(views_.size());
    task.view_count = static_cast<std::uint16_t>(request.operands_size());
    absl::Status status = FillAttributes(request, index, signature, task);
    if (status.ok()) status = AddViews(request, index, signature);
    if (status.ok()) status = PlanViews(index, signature, task);
    if (!status.ok()) return status;
    NoteAccesses(index, signature, task);
    ++calls_[*op];
    tasks_.push_back(task);
    return absl::OkStatus();
  }

  absl::StatusOr<Image> Finish(const Limits& limits) {
    const absl::StatusOr<Width> width =
        ChooseWidth(tasks_, limits.runner_blocks, limits.ready_capacity);
    if (!width.ok()) return width.status();
    const absl::StatusOr<TaskGraph> graph = BuildDependencies(program_, std::move(accesses_));
    if (!graph.ok()) return graph.status();
    Image image;
    image.tasks = graph->tasks();
    image.edges = graph->edges();
    image.ready_items = width->ready_items;
    image.bytes = LayOut(std::move(tasks_), views_, *graph,
                         static_cast<std::uint32_t>(slots_.size()), *width);
    image.slots = std::move(slots_);
    for (std::uint32_t op = 0; op < calls_.size(); ++op) {
      if (calls_[op] != 0) image.calls.emplace_back(op, calls_[op]);
    }
    return image;
  }

 private:
  absl::Status AddViews(const v1::Task& request, std::uint32_t index,
                        const ops::Signature& signature) {
    for (int i = 0; i < request.operands_size(); ++i) {
      const OperandPath path{.task = index, .operand = static_cast<std::uint32_t>(i)};
      const absl::StatusOr<abi::View> view = CheckView(request.operands(i), program_.slots(), path);
      if (!view.ok()) return view.status();
      if (signature.operands[static_cast<std::size_t>(i)].access != ops::Access::kRead) {
        if (absl::Status status = CheckWritable(*view, path); !status.ok()) return status;
      }
      views_.push_back(*view);
    }
    return absl::OkStatus();
  }

  // Lets the operator's rule have its say: shapes, tiles, and the views as the operator wants them.
  absl::Status PlanViews(std::uint32_t index, const ops::Signature& signature, abi::Task& task) {
    const absl::StatusOr<ops::Plan> plan = ops::PlanTask(signature, ViewsOf(task));
    if (!plan.ok()) {
      return absl::Status(plan.status().code(), absl::StrCat(TaskPath(index), " (", signature.name,
                                                             "): ", plan.status().message()));
    }
    task.tiles = plan->tiles;
    task.tile_size = plan->tile_size;
    return absl::OkStatus();
  }

  void NoteAccesses(std::uint32_t index, const ops::Signature& signature, const abi::Task& task) {
    const absl::Span<const abi::View> views = ViewsOf(task);
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (views[i].elements == 0) continue;
      const ops::Access kind = signature.operands[i].access;
      SlotUse& slot = slots_[views[i].slot];
      slot.read |= kind != ops::Access::kWrite;
      slot.written |= kind != ops::Access::kRead;
      accesses_.push_back(
          {.task = index, .slot = views[i].slot, .kind = kind, .footprint = FootprintOf(views[i])});
    }
  }

  absl::Span<abi::View> ViewsOf(const abi::Task& task) {
    return absl::MakeSpan(views_).subspan(task.first_view, task.view_count);
  }

  const v1::Program& program_;
  const absl::Span<const ops::Signature> catalog_;
  const OperatorNames names_;
  std::vector<SlotUse> slots_;
  std::vector<abi::Task> tasks_;
  std::vector<abi::View> views_;
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> calls_;  // By operator.
};

}  // namespace

absl::StatusOr<Image> BuildImage(const v1::Program& program,
                                 absl::Span<const ops::Signature> catalog, const Limits& limits) {
  if (absl::Status status = CheckCounts(program); !status.ok()) return status;
  Builder builder(program, catalog);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(program.tasks_size()); ++i) {
    if (absl::Status status = builder.AddTask(i); !status.ok()) return status;
  }
  return builder.Finish(limits);
}

}  // namespace gpuos::program
