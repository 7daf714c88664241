// Takes the edges of a program as they are found, up to a limit.
#ifndef GPUOS_DAEMON_PROGRAM_EDGE_SINK_H_
#define GPUOS_DAEMON_PROGRAM_EDGE_SINK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/program/task_graph.h"

namespace gpuos::program {

// Appends to a vector that must outlive it. Thread-compatible.
class EdgeSink {
 public:
  EdgeSink(std::vector<Edge>& edges, std::size_t limit) : edges_(edges), limit_(limit) {}

  // False, with nothing appended, once the limit is reached; the caller gives up then.
  [[nodiscard]] bool Add(std::uint32_t before, std::uint32_t after) {
    if (edges_.size() >= limit_) return false;
    edges_.push_back({before, after});
    return true;
  }

 private:
  std::vector<Edge>& edges_;
  const std::size_t limit_;
};

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_EDGE_SINK_H_
