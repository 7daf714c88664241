#include "kernels/worker/hand_made_image.h"

#include <algorithm>
#include <cstring>

namespace gpuos::worker {
namespace {

std::uint64_t Align16(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

template <typename T>
void Put(std::vector<std::uint64_t>& image, std::uint64_t offset, const std::vector<T>& items) {
  if (items.empty()) return;
  std::memcpy(reinterpret_cast<char*>(image.data()) + offset, items.data(),
              items.size() * sizeof(T));
}

}  // namespace

std::vector<std::uint64_t> MakeImage(const std::vector<HandMadeTask>& tasks,
                                     std::uint32_t slot_count, std::uint32_t width) {
  std::vector<abi::Task> records(tasks.size());
  std::vector<abi::View> views;
  std::vector<std::uint32_t> successors;
  abi::Program program{};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const HandMadeTask& task = tasks[i];
    abi::Task& record = records[i];
    record.op = task.op;
    record.tiles = task.tiles;
    record.tile_size = task.tile_size;
    record.first_view = static_cast<std::uint32_t>(views.size());
    record.view_count = static_cast<std::uint16_t>(task.views.size());
    record.attribute_count = abi::kMaxAttributes;
    record.first_successor = static_cast<std::uint32_t>(successors.size());
    record.successor_count = static_cast<std::uint32_t>(task.successors.size());
    for (std::uint32_t k = 0; k < abi::kMaxAttributes; ++k) {
      record.attributes[k].i = task.attributes[k];
    }
    views.insert(views.end(), task.views.begin(), task.views.end());
    successors.insert(successors.end(), task.successors.begin(), task.successors.end());
    program.ready_items += std::min(task.tiles, width);
  }
  for (const std::uint32_t successor : successors) ++records[successor].predecessors;
  std::vector<std::uint32_t> roots;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].predecessors == 0) roots.push_back(i);
  }
  program.task_count = static_cast<std::uint32_t>(records.size());
  program.view_count = static_cast<std::uint32_t>(views.size());
  program.successor_count = static_cast<std::uint32_t>(successors.size());
  program.root_count = static_cast<std::uint32_t>(roots.size());
  program.slot_count = slot_count;
  program.width = width;
  program.tasks = sizeof(abi::Program);
  program.views = Align16(program.tasks + records.size() * sizeof(abi::Task));
  program.successors = Align16(program.views + views.size() * sizeof(abi::View));
  program.roots = Align16(program.successors + successors.size() * sizeof(std::uint32_t));
  const std::uint64_t end = Align16(program.roots + roots.size() * sizeof(std::uint32_t));

  std::vector<std::uint64_t> image(end / sizeof(std::uint64_t));
  Put(image, 0, std::vector<abi::Program>{program});
  Put(image, program.tasks, records);
  Put(image, program.views, views);
  Put(image, program.successors, successors);
  Put(image, program.roots, roots);
  return image;
}

}  // namespace gpuos::worker
