#include "daemon/program/image_check.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/abi/program.h"

namespace gpuos::program {
namespace {

template <typename... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InternalError(absl::StrCat(parts...));
}

// The parts of an image, copied out.
struct Parts {
  abi::Program header;
  std::vector<abi::Task> tasks;
  std::vector<abi::View> views;
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> roots;
};

template <typename T>
absl::Status CopyPart(const Image& image, std::uint64_t offset, std::uint64_t count,
                      std::vector<T>& part) {
  if (offset % 16 != 0) return Wrong("a part lies at ", offset);
  if (offset > image.bytes.size() || count * sizeof(T) > image.bytes.size() - offset) {
    return Wrong("a part of ", count, " ends behind the image");
  }
  part.resize(count);
  if (count > 0) std::memcpy(part.data(), image.bytes.data() + offset, count * sizeof(T));
  return absl::OkStatus();
}

absl::StatusOr<Parts> ReadParts(const Image& image) {
  Parts parts;
  if (image.bytes.size() < sizeof(abi::Program)) return Wrong("no header");
  std::memcpy(&parts.header, image.bytes.data(), sizeof(abi::Program));
  const abi::Program& header = parts.header;
  for (const absl::Status& status :
       {CopyPart(image, header.tasks, header.task_count, parts.tasks),
        CopyPart(image, header.views, header.view_count, parts.views),
        CopyPart(image, header.successors, header.successor_count, parts.successors),
        CopyPart(image, header.roots, header.root_count, parts.roots)}) {
    if (!status.ok()) return status;
  }
  if (image.tasks != header.task_count || image.edges != header.successor_count ||
      image.ready_items != header.ready_items || image.slots.size() != header.slot_count) {
    return Wrong("the image's counts are not those of its header");
  }
  return parts;
}

// Calls `function` with the place of each byte of `view`, as 128 bits.
template <typename Function>
void ForEachByte(const abi::View& view, const Function& function) {
  for (std::int64_t element = 0; element < view.elements; ++element) {
    unsigned __int128 place = 0;
    std::int64_t rest = element;
    for (int d = view.dims - 1; d >= 0; --d) {
      place += static_cast<unsigned __int128>(rest % view.sizes[d]) *
               static_cast<unsigned __int128>(view.strides[d]);
      rest /= view.sizes[d];
    }
    place = place * abi::SizeOf(view.dtype) + view.offset;
    for (std::uint32_t k = 0; k < abi::SizeOf(view.dtype); ++k) function(place + k);
  }
}

// The last byte that a view touches, plus one.
unsigned __int128 EndOf(const abi::View& view) {
  if (view.elements == 0) return 0;
  unsigned __int128 last = 0;
  for (int d = 0; d < view.dims; ++d) {
    last += static_cast<unsigned __int128>(view.sizes[d] - 1) *
            static_cast<unsigned __int128>(view.strides[d]);
  }
  return (last + 1) * abi::SizeOf(view.dtype) + view.offset;
}

absl::Status CheckViewShape(const abi::View& view, std::size_t index, const Image& image) {
  if (view.slot >= image.slots.size()) return Wrong("view ", index, " has slot ", view.slot);
  if (abi::SizeOf(view.dtype) == 0) return Wrong("view ", index, " has no dtype");
  if (view.dims > abi::kMaxDims) return Wrong("view ", index, " has ", view.dims, " dimensions");
  unsigned __int128 elements = 1;
  for (std::uint32_t d = 0; d < abi::kMaxDims; ++d) {
    if (view.sizes[d] < 0 || view.strides[d] < 0) return Wrong("view ", index, " is negative");
    if (d >= view.dims && view.sizes[d] != 1) return Wrong("view ", index, " has loose sizes");
    elements *= static_cast<unsigned __int128>(view.sizes[d]);
  }
  if (elements != static_cast<unsigned __int128>(view.elements)) {
    return Wrong("view ", index, " has another number of elements");
  }
  if (EndOf(view) > image.slots[view.slot].length) return Wrong("view ", index, " leaves its slot");
  return absl::OkStatus();
}

class Checker {
 public:
  Checker(const Image& image, Parts parts, absl::Span<const ops::Signature> catalog)
      : image_(image), parts_(std::move(parts)), catalog_(catalog) {}

  absl::StatusOr<ImageReport> Run() {
    if (absl::Status status = CheckViews(image_); !status.ok()) return status;
    absl::Status status = CheckTasks();
    if (status.ok()) status = CheckEdges();
    if (status.ok()) status = FindAncestors();
    if (status.ok()) status = CheckOrder();
    if (status.ok()) status = CheckUse();
    if (!status.ok()) return status;
    CountImplied();
    return report_;
  }

 private:
  // Who touched one byte and still matters.
  struct ByteState {
    std::vector<std::pair<std::uint32_t, ops::Access>> touched;
  };

  absl::Status CheckTasks() {
    std::uint64_t ready_items = 0;
    std::uint32_t next_view = 0;
    for (std::size_t i = 0; i < parts_.tasks.size(); ++i) {
      const abi::Task& task = parts_.tasks[i];
      if (task.op >= catalog_.size()) return Wrong("task ", i, " has operator ", task.op);
      if (task.first_view != next_view) return Wrong("task ", i, " has others' views");
      next_view += task.view_count;
      if (task.view_count != catalog_[task.op].operands.size()) return Wrong("task ", i, " views");
      if (task.tiles == 0) return Wrong("task ", i, " has no tiles");
      ready_items += std::min(task.tiles, parts_.header.width);
    }
    if (next_view != parts_.views.size()) return Wrong("views without a task");
    if (parts_.header.width == 0) return Wrong("no width");
    if (ready_items != parts_.header.ready_items) return Wrong("ready items are ", ready_items);
    return absl::OkStatus();
  }

  absl::Status CheckEdges() {
    const std::size_t tasks = parts_.tasks.size();
    std::vector<std::uint32_t> predecessors(tasks);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < tasks; ++i) {
      const abi::Task& task = parts_.tasks[i];
      if (task.first_successor < next) return Wrong("task ", i, " has others' successors");
      next = task.first_successor + task.successor_count;
      if (next > parts_.successors.size()) return Wrong("task ", i, " has too many successors");
      std::set<std::uint32_t> seen;
      for (std::uint32_t k = task.first_successor; k < next; ++k) {
        if (parts_.successors[k] >= tasks) return Wrong("task ", i, " leads nowhere");
        if (!seen.insert(parts_.successors[k]).second) return Wrong("task ", i, " leads twice");
        ++predecessors[parts_.successors[k]];
      }
    }
    std::vector<std::uint32_t> roots;
    for (std::uint32_t i = 0; i < tasks; ++i) {
      if (predecessors[i] != parts_.tasks[i].predecessors) return Wrong("task ", i, " waits");
      if (predecessors[i] == 0) roots.push_back(i);
    }
    if (roots != parts_.roots) return Wrong("the roots are others");
    return absl::OkStatus();
  }

  absl::Status FindAncestors() {
    const std::size_t tasks = parts_.tasks.size();
    ancestors_.assign(tasks, std::vector<bool>(tasks));
    std::vector<std::uint32_t> order = parts_.roots;
    std::vector<std::uint32_t> waits;
    for (const abi::Task& task : parts_.tasks) waits.push_back(task.predecessors);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t task = order[i];
      for (const std::uint32_t next : SuccessorsOf(task)) {
        for (std::size_t k = 0; k < tasks; ++k) {
          if (ancestors_[task][k]) ancestors_[next][k] = true;
        }
        ancestors_[next][task] = true;
        if (--waits[next] == 0) order.push_back(next);
      }
    }
    if (order.size() != tasks) return Wrong("tasks wait for each other");
    return absl::OkStatus();
  }

  absl::Status CheckOrder() {
    std::map<std::pair<std::uint32_t, std::uint64_t>, ByteState> bytes;
    for (std::uint32_t task = 0; task < parts_.tasks.size(); ++task) {
      absl::Status status;
      ForEachView(task, [&](const abi::View& view, ops::Access access) {
        ForEachByte(view, [&](unsigned __int128 place) {
          ByteState& state = bytes[{view.slot, static_cast<std::uint64_t>(place)}];
          for (const auto& [other, how] : state.touched) {
            const bool harmless = how == access && access != ops::Access::kWrite;
            if (harmless || other == task) continue;
            in_conflict_.insert({other, task});
            if (!ancestors_[task][other]) {
              status =
                  Wrong("task ", task, " does not wait for task ", other, ", which touches byte ",
                        static_cast<std::uint64_t>(place), " of slot ", view.slot, " too");
            }
          }
          state.touched.emplace_back(task, access);
        });
      });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status CheckUse() {
    std::vector<SlotUse> used(image_.slots.size());
    for (std::uint32_t task = 0; task < parts_.tasks.size(); ++task) {
      ForEachView(task, [&](const abi::View& view, ops::Access access) {
        if (view.elements == 0) return;
        used[view.slot].read |= access != ops::Access::kWrite;
        used[view.slot].written |= access != ops::Access::kRead;
      });
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i].read != image_.slots[i].read || used[i].written != image_.slots[i].written) {
        return Wrong("slot ", i, " is used otherwise");
      }
    }
    return absl::OkStatus();
  }

  void CountImplied() {
    for (std::uint32_t task = 0; task < parts_.tasks.size(); ++task) {
      const absl::Span<const std::uint32_t> successors = SuccessorsOf(task);
      for (const std::uint32_t next : successors) {
        ++report_.edges;
        if (in_conflict_.count({task, next}) == 0) ++report_.unjustified_edges;
        const bool implied =
            std::any_of(successors.begin(), successors.end(),
                        [&](std::uint32_t between) { return ancestors_[next][between]; });
        report_.implied_edges += implied ? 1 : 0;
      }
    }
  }

  absl::Span<const std::uint32_t> SuccessorsOf(std::uint32_t task) const {
    return absl::MakeConstSpan(parts_.successors)
        .subspan(parts_.tasks[task].first_successor, parts_.tasks[task].successor_count);
  }

  template <typename Function>
  void ForEachView(std::uint32_t index, const Function& function) const {
    const abi::Task& task = parts_.tasks[index];
    for (std::uint32_t i = 0; i < task.view_count; ++i) {
      function(parts_.views[task.first_view + i], catalog_[task.op].operands[i].access);
    }
  }

  const Image& image_;
  const Parts parts_;
  const absl::Span<const ops::Signature> catalog_;
  std::vector<std::vector<bool>> ancestors_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> in_conflict_;
  ImageReport report_;
};

}  // namespace

absl::StatusOr<ImageReport> CheckImage(const Image& image,
                                       absl::Span<const ops::Signature> catalog) {
  absl::StatusOr<Parts> parts = ReadParts(image);
  if (!parts.ok()) return parts.status();
  return Checker(image, *std::move(parts), catalog).Run();
}

absl::Status CheckViews(const Image& image) {
  const absl::StatusOr<Parts> parts = ReadParts(image);
  if (!parts.ok()) return parts.status();
  for (std::size_t i = 0; i < parts->views.size(); ++i) {
    const absl::Status status = CheckViewShape(parts->views[i], i, image);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void RemoveEdge(std::uint32_t edge, Image& image) {
  abi::Program header;
  std::memcpy(&header, image.bytes.data(), sizeof(header));
  auto* tasks = reinterpret_cast<abi::Task*>(image.bytes.data() + header.tasks);
  auto* successors = reinterpret_cast<std::uint32_t*>(image.bytes.data() + header.successors);
  std::uint32_t task = 0;
  while (tasks[task].first_successor + tasks[task].successor_count <= edge) ++task;
  // The task's last successor takes the place; the one behind it is nobody's.
  const std::uint32_t target = successors[edge];
  --tasks[task].successor_count;
  successors[edge] = successors[tasks[task].first_successor + tasks[task].successor_count];
  if (--tasks[target].predecessors > 0) return;
  // A new root: one more at the end of the image, in order.
  auto* roots = reinterpret_cast<std::uint32_t*>(image.bytes.data() + header.roots);
  std::vector<std::uint32_t> all(roots, roots + header.root_count);
  all.insert(std::upper_bound(all.begin(), all.end(), target), target);
  ++header.root_count;
  std::memcpy(image.bytes.data(), &header, sizeof(header));
  image.bytes.resize(header.roots + all.size() * sizeof(std::uint32_t));
  std::memcpy(image.bytes.data() + header.roots, all.data(), all.size() * sizeof(std::uint32_t));
}

}  // namespace gpuos::program
