// What a group keeps.
#pragma once

#include <vector>

#include "relayout/group.hpp"

namespace relayout {

struct Group::State {
  std::vector<int> local_ranks;
  /// Of the local ranks: the caller's streams, and one more each, for what runs beside them.
  std::vector<Stream> streams, sides;
  std::vector<std::vector<bool>> reaches;  // [from][to]

  int ranks() const noexcept { return static_cast<int>(reaches.size()); }
  /// Where a rank stands among the local ones; -1: it is another process's.
  int local(int rank) const noexcept;
};

}  // namespace relayout
