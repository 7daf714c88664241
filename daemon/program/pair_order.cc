#include <bitset>
#include <vector>

#include "daemon/program/extent.h"
#include "daemon/program/neighborhood_order.h"

namespace gpuos::program {
namespace {

using Ranks = std::bitset<kMaxPairwise>;

// The accesses of one task.
struct Member {
  Neighborhood accesses;
  Ranks before;  // Members that are done before this one starts.
};

std::vector<Member> MembersOf(Neighborhood accesses) {
  std::vector<Member> members;
  for (std::size_t first = 0, last = 0; first < accesses.size(); first = last) {
    while (last < accesses.size() && accesses[last]->task == accesses[first]->task) ++last;
    members.push_back({.accesses = accesses.subspan(first, last - first), .before = {}});
  }
  return members;
}

bool MustBeOrdered(Neighborhood a, Neighborhood b) {
  for (const Access* x : a) {
    for (const Access* y : b) {
      if (Conflict(x->kind, y->kind) && MayOverlap(x->footprint, y->footprint)) return true;
    }
  }
  return false;
}

}  // namespace

bool OrderByPairs(Neighborhood accesses, EdgeSink& edges, std::uint32_t& task) {
  std::vector<Member> members = MembersOf(accesses);
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    Member& member = members[rank];
    task = member.accesses.front()->task;
    // The latest first: what it waited for needs no comparison.
    for (std::size_t other = rank; other-- > 0;) {
      if (member.before[other]) continue;
      if (!MustBeOrdered(members[other].accesses, member.accesses)) continue;
      member.before |= members[other].before;
      member.before.set(other);
      if (!edges.Add(members[other].accesses.front()->task, task)) return false;
    }
  }
  return true;
}

}  // namespace gpuos::program
