// Which bytes a batch touches, and whether two batches touch the same ones.
#ifndef GPUOS_DAEMON_EXECUTOR_EXTENTS_H_
#define GPUOS_DAEMON_EXECUTOR_EXTENTS_H_

#include <vector>

#include "kernels/abi/queue.h"

namespace gpuos::executor {

// Bytes [begin, end) by device address.
struct Extent {
  abi::DeviceAddress begin = 0;
  abi::DeviceAddress end = 0;

  bool operator==(const Extent&) const = default;
};

// A set of bytes: sorted, disjoint, non-empty extents. A value; thread-compatible.
class Extents {
 public:
  Extents() = default;
  // Takes any extents, in any order, overlapping or empty ones too. REQUIRES: begin <= end in each.
  explicit Extents(std::vector<Extent> extents);

  // In time linear in both.
  bool Intersects(const Extents& other) const;

  const std::vector<Extent>& list() const { return list_; }

 private:
  std::vector<Extent> list_;
};

// What a batch reads and what it writes.
struct Footprint {
  Extents read;
  Extents written;
};

// Whether the order of two batches matters: one writes what the other reads or writes.
bool Conflict(const Footprint& a, const Footprint& b);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_EXTENTS_H_
