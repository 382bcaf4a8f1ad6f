// Where the elements of a tile go in shared memory, so that neither the writes in the input's order nor the
// reads in the output's meet in a bank.
//
// The rule: the walk that leads lays its axes one after the other. Then, going through the axes of the other
// walk's lanes from the innermost, each axis must shift the bank by the product of the extents inside it;
// that fixes the stride of the axis modulo the banks, and so the padding of the block of axes inside it in
// the leading order. Where the rule cannot be kept (an axis that is innermost for both walks, axes too short
// to fill a warp, extents that do not divide, no room for the padding) the cheapest remedy is searched for.
#pragma once

#include <cstdint>
#include <vector>

#include "bank_simulator.hpp"

namespace example {

enum class BankRemedy { none, padding, swizzle };

struct BankLimits {
  std::int64_t shared_bytes = 48 * 1024;
  /// Extents up to which the tile may take in more of its axes; empty: the tile stays as it is.
  std::vector<std::int64_t> whole;
};

struct BankSolution {
  BankTile tile;  // the one asked for, but for:
  BankLayout layout;
  BankRemedy remedy = BankRemedy::none;
  bool merged = false;     // it is larger
  bool reordered = false;  // the drain takes its runs in another order
  BankReport claim;  // what every access of the tile costs; a bounded conflict where it is not conflict-free
};

/// The layout with the fewest passes an element that fits, and where the drain's runs are separate, the order
/// in which lanes take them: beside each other along the fill's innermost axis, they read neighbouring words.
/// Among equals padding of up to an eighth before a
/// swizzle before the fewest bytes. Throws Error where the tile itself does not fit.
BankSolution solve_banks(const BankTile& tile, const BankModel& model, const BankLimits& limits = {});

/// The rule alone: the fill leads, the drain's axes fix the padding.
BankLayout padded_by_rule(const BankTile& tile, const BankModel& model);

}  // namespace example
