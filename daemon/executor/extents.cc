#include "daemon/executor/extents.h"

#include <algorithm>
#include <utility>

namespace gpuos::executor {

Extents::Extents(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (const Extent& extent : extents) {
    if (extent.begin == extent.end) continue;
    if (!list_.empty() && extent.begin <= list_.back().end) {
      list_.back().end = std::max(list_.back().end, extent.end);
    } else {
      list_.push_back(extent);
    }
  }
}

bool Extents::Intersects(const Extents& other) const {
  auto a = list_.begin();
  auto b = other.list_.begin();
  while (a != list_.end() && b != other.list_.end()) {
    if (a->end <= b->begin) {
      ++a;
    } else if (b->end <= a->begin) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

bool Conflict(const Footprint& a, const Footprint& b) {
  return a.written.Intersects(b.written) || a.written.Intersects(b.read) ||
         a.read.Intersects(b.written);
}

}  // namespace gpuos::executor
