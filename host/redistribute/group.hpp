// What a group keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "platform/communicator.hpp"
#include "relayout/buffer.hpp"
#include "relayout/group.hpp"

namespace relayout {

struct Group::State {
  std::vector<int> local_ranks;
  /// Of the local ranks: the caller's streams, and one more each, for what runs beside them.
  std::vector<Stream> streams, sides;
  std::vector<std::vector<bool>> reaches;  // [from][to]
  /// Null: all ranks are this process's.
  std::unique_ptr<const Communicator> communicator;
  /// What a rank tells the others (agreement.hpp), and what all of them say.
  static constexpr std::size_t kAgreementWords = 7;
  Buffer agreement;

  int ranks() const noexcept { return static_cast<int>(reaches.size()); }
  /// Where a rank stands among the local ones; -1: it is another process's.
  int local(int rank) const noexcept;
};

}  // namespace relayout
