// Who touched which stretch of a slot, and who of them still matters to a newcomer.
#ifndef GPUOS_DAEMON_PROGRAM_ACCESS_INDEX_H_
#define GPUOS_DAEMON_PROGRAM_ACCESS_INDEX_H_

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/program/access.h"
#include "kernels/ops/signature.h"

namespace gpuos::program {

// Numbers of cells [first, last) of an index.
struct CellRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// A row of cells, each with the accesses that a later access of the cell may have to wait for: the
// last write, and the reads and atomic accesses since. Accesses are made by tasks of ascending
// rank.
//
// A segment tree over the cells. Each node keeps, for each kind of access, what covers all its
// cells; a write forgets, lazily, what its cells knew before. What nodes keep are persistent lists
// (ropes): handing a list down to two children costs one node each, whatever its length. So Add
// takes O(log cells), and a search O(log) a result, however the accesses lie.
//
// Thread-compatible. Memory is O(cells + additions * log cells).
class AccessIndex {
 public:
  explicit AccessIndex(std::uint32_t cells);

  // Notes that task `rank` accesses `cells` (not empty). Ranks never descend. All tasks of a lower
  // rank than `settled` are known to be done before `rank` starts, so a list whose other members
  // are all below it keeps `rank` alone. A write takes the place of whatever its cells knew.
  void Add(CellRange cells, ops::Access access, std::uint32_t rank, std::uint32_t settled);

  // One search for the accesses in conflict with those of one task: say where it touches what, then
  // take results until there are none or none that matters.
  void StartSearch();
  void Seek(CellRange cells, ops::Access access);
  // The greatest rank in conflict that was not returned yet, or kNone.
  std::uint32_t Next();
  static constexpr std::uint32_t kNone = ~0u;

 private:
  static constexpr std::uint32_t kKinds = 3;
  using Kind = std::uint32_t;
  using RopeId = std::uint32_t;  // Index into ropes_; 0 is the empty list.
  using Rank = std::int32_t;     // Fits: there are at most abi::kMaxTasks.
  static constexpr Rank kNothing = -1;

  // A list of ranks: one rank, or two lists one after the other.
  struct Rope {
    RopeId left = 0;
    RopeId right = 0;  // Both are 0 in a list of one rank.
    Rank greatest = kNothing;
    Rank settled = 0;          // As Add got it for the greatest rank.
    std::uint32_t search = 0;  // The last search that came by.
  };

  struct Node {
    std::array<RopeId, kKinds> lists{};  // Accesses of all the node's cells.
    // Greatest rank of each kind in the node and below.
    std::array<Rank, kKinds> greatest{kNothing, kNothing, kNothing};
    bool forgotten = false;  // What the nodes below hold is void.
  };

  // What a search has still to look into: a node with all below it, or one list.
  struct Pending {
    Rank greatest;
    std::uint32_t index;
    std::uint8_t kinds;  // A bit for each kind that matters; 0 for a list.

    friend bool operator<(const Pending& a, const Pending& b) { return a.greatest < b.greatest; }
  };

  static std::uint8_t ConflictsOf(ops::Access access);

  RopeId ListOf(std::uint32_t rank, std::uint32_t settled);
  RopeId Join(RopeId a, RopeId b);
  void Append(Node& node, Kind kind, RopeId list);
  void Forget(Node& node);
  void PushDown(std::uint32_t node);
  void PullUp(std::uint32_t node);

  // The recursions over the tree; `here` are the cells below `node`.
  void AddBelow(std::uint32_t node, CellRange here, CellRange cells, Kind kind, RopeId list);
  void SeekBelow(std::uint32_t node, CellRange here, CellRange cells, std::uint8_t kinds);
  void PendLists(const Node& node, std::uint8_t kinds);
  void PendNode(std::uint32_t node, std::uint8_t kinds);
  void PendList(RopeId list);
  void Pend(const Pending& pending);

  bool IsLeaf(std::uint32_t node) const { return node >= leaves_ - 1; }

  const std::uint32_t leaves_;  // A power of two.
  std::vector<Node> nodes_;     // Node n has children 2n + 1 and 2n + 2.
  std::vector<Rope> ropes_;
  struct {
    Rank rank = kNothing;
    RopeId list = 0;
  } newest_;                      // The list of the last rank alone.
  std::vector<Pending> pending_;  // A heap.
  std::uint32_t search_ = 0;
};

}  // namespace gpuos::program

#endif  // GPUOS_DAEMON_PROGRAM_ACCESS_INDEX_H_
