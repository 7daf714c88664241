#include "daemon/program/layout.h"

#include <cstring>
#include <utility>

namespace gpuos::program {
namespace {

constexpr std::size_t kPartAlignment = 16;

// Appends parts, each at a multiple of 16, and says where they went.
class Writer {
 public:
  template <typename T>
  std::uint64_t Append(absl::Span<const T> part) {
    const std::size_t offset =
        (bytes_.size() + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    bytes_.resize(offset + part.size() * sizeof(T));
    if (!part.empty()) std::memcpy(bytes_.data() + offset, part.data(), part.size() * sizeof(T));
    return offset;
  }

  void WriteAt(std::size_t offset, const abi::Program& header) {
    std::memcpy(bytes_.data() + offset, &header, sizeof(header));
  }

  std::vector<std::byte> Take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> LayOut(std::vector<abi::Task> tasks, absl::Span<const abi::View> views,
                              const TaskGraph& graph, std::uint32_t slots, const Width& width) {
  std::vector<std::uint32_t> roots;
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    tasks[i].predecessors = graph.predecessors(i);
    tasks[i].first_successor = graph.first_successor(i);
    tasks[i].successor_count = static_cast<std::uint32_t>(graph.successors(i).size());
    if (tasks[i].predecessors == 0) roots.push_back(i);
  }
  abi::Program header{};
  header.task_count = static_cast<std::uint32_t>(tasks.size());
  header.view_count = static_cast<std::uint32_t>(views.size());
  header.successor_count = graph.edges();
  header.root_count = static_cast<std::uint32_t>(roots.size());
  header.slot_count = slots;
  header.width = width.width;
  header.ready_items = width.ready_items;
  Writer writer;
  writer.Append(absl::MakeConstSpan(&header, 1));
  header.tasks = writer.Append(absl::MakeConstSpan(tasks));
  header.views = writer.Append(views);
  header.successors = writer.Append(absl::MakeConstSpan(graph.all_successors()));
  header.roots = writer.Append(absl::MakeConstSpan(roots));
  writer.WriteAt(0, header);
  return writer.Take();
}

}  // namespace gpuos::program
