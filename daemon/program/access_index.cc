#include "daemon/program/access_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpuos::program {
namespace {

bool Meet(CellRange a, CellRange b) { return a.first < b.last && b.first < a.last; }
bool Covers(CellRange outer, CellRange inner) {
  return outer.first <= inner.first && inner.last <= outer.last;
}

constexpr std::uint32_t Left(std::uint32_t node) { return 2 * node + 1; }
constexpr std::uint32_t Right(std::uint32_t node) { return 2 * node + 2; }
CellRange LeftHalf(CellRange cells) { return {cells.first, (cells.first + cells.last) / 2}; }
CellRange RightHalf(CellRange cells) { return {(cells.first + cells.last) / 2, cells.last}; }

}  // namespace

AccessIndex::AccessIndex(std::uint32_t cells)
    : leaves_(std::bit_ceil(std::max(cells, 1u))), nodes_(2 * leaves_ - 1), ropes_(1) {}

std::uint8_t AccessIndex::ConflictsOf(ops::Access access) {
  std::uint8_t kinds = 0;
  for (const ops::Access other : {ops::Access::kRead, ops::Access::kWrite, ops::Access::kAtomic}) {
    if (Conflict(access, other)) kinds |= static_cast<std::uint8_t>(1u << static_cast<Kind>(other));
  }
  return kinds;
}

void AccessIndex::Add(CellRange cells, ops::Access access, std::uint32_t rank,
                      std::uint32_t settled) {
  AddBelow(0, {0, leaves_}, cells, static_cast<Kind>(access), ListOf(rank, settled));
}

AccessIndex::RopeId AccessIndex::ListOf(std::uint32_t rank, std::uint32_t settled) {
  const auto wanted = static_cast<Rank>(rank);
  // One list serves all accesses of a task, so that a search comes by it once.
  if (newest_.rank != wanted) {
    ropes_.push_back(Rope{.greatest = wanted, .settled = static_cast<Rank>(settled)});
    newest_ = {wanted, static_cast<RopeId>(ropes_.size() - 1)};
  }
  return newest_.list;
}

AccessIndex::RopeId AccessIndex::Join(RopeId a, RopeId b) {
  if (a == 0 || a == b) return b;
  if (b == 0) return a;
  if (ropes_[a].greatest < ropes_[b].greatest) std::swap(a, b);
  // Whoever waits for the greatest of `a` waits for all of `b` with it.
  if (ropes_[a].settled > ropes_[b].greatest) return a;
  ropes_.push_back(
      Rope{.left = a, .right = b, .greatest = ropes_[a].greatest, .settled = ropes_[a].settled});
  return static_cast<RopeId>(ropes_.size() - 1);
}

void AccessIndex::Append(Node& node, Kind kind, RopeId list) {
  node.lists[kind] = Join(node.lists[kind], list);
  node.greatest[kind] = std::max(node.greatest[kind], ropes_[list].greatest);
}

void AccessIndex::Forget(Node& node) {
  node = Node{};
  node.forgotten = true;
}

void AccessIndex::PushDown(std::uint32_t node) {
  Node& parent = nodes_[node];
  for (const std::uint32_t child : {Left(node), Right(node)}) {
    if (parent.forgotten) Forget(nodes_[child]);
    for (Kind kind = 0; kind < kKinds; ++kind) {
      if (parent.lists[kind] != 0) Append(nodes_[child], kind, parent.lists[kind]);
    }
  }
  parent.lists = {};
  parent.forgotten = false;
}

void AccessIndex::PullUp(std::uint32_t node) {
  Node& parent = nodes_[node];
  for (Kind kind = 0; kind < kKinds; ++kind) {
    parent.greatest[kind] =
        std::max({ropes_[parent.lists[kind]].greatest, nodes_[Left(node)].greatest[kind],
                  nodes_[Right(node)].greatest[kind]});
  }
}

void AccessIndex::AddBelow(std::uint32_t node, CellRange here, CellRange cells, Kind kind,
                           RopeId list) {
  const bool replaces = kind == static_cast<Kind>(ops::Access::kWrite);
  if (Covers(cells, here)) {
    if (replaces) Forget(nodes_[node]);
    Append(nodes_[node], kind, list);
    return;
  }
  if (replaces || nodes_[node].forgotten) PushDown(node);
  const CellRange left = LeftHalf(here);
  const CellRange right = RightHalf(here);
  if (Meet(cells, left)) AddBelow(Left(node), left, cells, kind, list);
  if (Meet(cells, right)) AddBelow(Right(node), right, cells, kind, list);
  PullUp(node);
}

void AccessIndex::StartSearch() {
  ++search_;
  pending_.clear();
}

void AccessIndex::Seek(CellRange cells, ops::Access access) {
  SeekBelow(0, {0, leaves_}, cells, ConflictsOf(access));
}

void AccessIndex::SeekBelow(std::uint32_t node, CellRange here, CellRange cells,
                            std::uint8_t kinds) {
  if (Covers(cells, here)) {
    PendNode(node, kinds);
    return;
  }
  PendLists(nodes_[node], kinds);
  if (nodes_[node].forgotten) return;
  const CellRange left = LeftHalf(here);
  const CellRange right = RightHalf(here);
  if (Meet(cells, left)) SeekBelow(Left(node), left, cells, kinds);
  if (Meet(cells, right)) SeekBelow(Right(node), right, cells, kinds);
}

std::uint32_t AccessIndex::Next() {
  while (!pending_.empty()) {
    std::pop_heap(pending_.begin(), pending_.end());
    const Pending next = pending_.back();
    pending_.pop_back();
    if (next.kinds != 0) {
      const Node& node = nodes_[next.index];
      PendLists(node, next.kinds);
      if (node.forgotten || IsLeaf(next.index)) continue;
      PendNode(Left(next.index), next.kinds);
      PendNode(Right(next.index), next.kinds);
      continue;
    }
    const Rope& rope = ropes_[next.index];
    if (rope.left == 0) return static_cast<std::uint32_t>(rope.greatest);
    PendList(rope.left);
    PendList(rope.right);
  }
  return kNone;
}

void AccessIndex::PendLists(const Node& node, std::uint8_t kinds) {
  for (Kind kind = 0; kind < kKinds; ++kind) {
    if ((kinds >> kind & 1) != 0 && node.lists[kind] != 0) PendList(node.lists[kind]);
  }
}

void AccessIndex::PendNode(std::uint32_t node, std::uint8_t kinds) {
  Rank greatest = kNothing;
  for (Kind kind = 0; kind < kKinds; ++kind) {
    if ((kinds >> kind & 1) != 0) greatest = std::max(greatest, nodes_[node].greatest[kind]);
  }
  if (greatest != kNothing) Pend({greatest, node, kinds});
}

void AccessIndex::PendList(RopeId list) {
  if (ropes_[list].search == search_) return;
  ropes_[list].search = search_;
  Pend({ropes_[list].greatest, list, 0});
}

void AccessIndex::Pend(const Pending& pending) {
  pending_.push_back(pending);
  std::push_heap(pending_.begin(), pending_.end());
}

}  // namespace gpuos::program
