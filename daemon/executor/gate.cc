#include "daemon/executor/gate.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/abi/limits.h"

namespace gpuos::executor {
namespace {

struct PlacedSlot {
  Extent extent;
  std::size_t slot;
  bool written;
};

absl::StatusOr<abi::DeviceAddress> Place(std::size_t index, const Binding& binding,
                                         const program::SlotUse& slot, FindSegment find) {
  const device::Segment* segment = find(binding.segment);
  if (segment == nullptr) {
    return absl::NotFoundError(absl::StrCat("bindings[", index, "].segment is ", binding.segment,
                                            ", which is not a segment of this session; register "
                                            "the memory in this session first"));
  }
  if (binding.offset % abi::kBindingAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat("bindings[", index, "].offset is ",
                                                   binding.offset, "; it must be a multiple of ",
                                                   abi::kBindingAlignment));
  }
  // Written so that no sum can wrap.
  if (binding.offset > segment->size || slot.length > segment->size - binding.offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("bindings[", index, "].offset is ", binding.offset, "; slots[", index,
                     "].length of ", slot.length, " bytes does not fit behind it in segment ",
                     binding.segment, " of ", segment->size, " bytes"));
  }
  return segment->address + binding.offset;
}

absl::Status OverlapError(std::size_t a, std::size_t b) {
  return absl::InvalidArgumentError(
      absl::StrCat("bindings[", std::min(a, b), "] and bindings[", std::max(a, b),
                   "] overlap and one of the slots is written; give overlapping memory one slot "
                   "that covers it"));
}

// Going through the slots by address, a slot overlaps an earlier one exactly if it begins before
// the furthest end so far. A written slot must not do so at all, a read one not with a written one.
absl::Status CheckDisjoint(std::vector<PlacedSlot> placed) {
  std::sort(placed.begin(), placed.end(), [](const PlacedSlot& a, const PlacedSlot& b) {
    return a.extent.begin < b.extent.begin;
  });
  const PlacedSlot* furthest = nullptr;
  const PlacedSlot* furthest_written = nullptr;
  for (const PlacedSlot& slot : placed) {
    const PlacedSlot* other = slot.written ? furthest : furthest_written;
    if (other != nullptr && slot.extent.begin < other->extent.end) {
      return OverlapError(slot.slot, other->slot);
    }
    const auto extend = [&slot](const PlacedSlot*& best) {
      if (best == nullptr || slot.extent.end > best->extent.end) best = &slot;
    };
    extend(furthest);
    if (slot.written) extend(furthest_written);
  }
  return absl::OkStatus();
}

std::vector<std::uint64_t> DistinctSegments(absl::Span<const Binding> bindings) {
  std::vector<std::uint64_t> segments;
  segments.reserve(bindings.size());
  for (const Binding& binding : bindings) segments.push_back(binding.segment);
  std::sort(segments.begin(), segments.end());
  segments.erase(std::unique(segments.begin(), segments.end()), segments.end());
  return segments;
}

}  // namespace

absl::StatusOr<CheckedBatch> CheckBindings(absl::Span<const program::SlotUse> slots,
                                           absl::Span<const Binding> bindings, FindSegment find) {
  if (bindings.size() != slots.size()) {
    return absl::InvalidArgumentError(absl::StrCat("bindings has ", bindings.size(),
                                                   " entries and the program has ", slots.size(),
                                                   " slots; give one binding for each slot"));
  }
  CheckedBatch batch;
  batch.addresses_.reserve(slots.size());
  std::vector<PlacedSlot> placed;
  std::vector<Extent> read;
  std::vector<Extent> written;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    absl::StatusOr<abi::DeviceAddress> address = Place(i, bindings[i], slots[i], find);
    if (!address.ok()) return std::move(address).status();
    batch.addresses_.push_back(*address);
    const Extent extent{.begin = *address, .end = *address + slots[i].length};
    if (slots[i].length == 0 || !(slots[i].read || slots[i].written)) continue;
    placed.push_back({.extent = extent, .slot = i, .written = slots[i].written});
    if (slots[i].read) read.push_back(extent);
    if (slots[i].written) written.push_back(extent);
  }
  if (absl::Status disjoint = CheckDisjoint(std::move(placed)); !disjoint.ok()) return disjoint;
  batch.footprint_ = {.read = Extents(std::move(read)), .written = Extents(std::move(written))};
  batch.segments_ = DistinctSegments(bindings);
  return batch;
}

}  // namespace gpuos::executor
