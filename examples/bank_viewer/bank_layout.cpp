#include "bank_layout.hpp"

#include <algorithm>
#include <string>

#include "bank_search.hpp"
#include "relayout/error.hpp"

namespace example {
namespace {

/// How far a tile may grow, and by how much an element must get cheaper for it.
constexpr std::int64_t kMaxGrowth = 8;
constexpr double kWorthGrowing = 0.97;

/// The innermost axis of a walk along which anything moves, -1: none.
int innermost(const BankTile& tile, const BankWalk& walk) {
  for (const int axis : walk.order)
    if (tile.extents[static_cast<std::size_t>(axis)] > 1) return axis;
  return -1;
}

/// The axes of extents above 1 as digits, in the given order.
std::vector<BankDigit> digits_of(const BankTile& tile, const std::vector<int>& order) {
  std::vector<BankDigit> digits;
  for (const int axis : order) {
    const std::int64_t extent = tile.extents[static_cast<std::size_t>(axis)];
    if (extent > 1) digits.push_back({axis, 1, extent, 0});
  }
  if (digits.empty()) digits.push_back({0, 1, 1, 0});
  return digits;
}

/// A lane's vector along `axis` is taken apart: its elements come from blocks that lie as far apart as they
/// can, so that the elements of neighbouring lanes are neighbours.
bool split_vector(const BankTile& tile, int axis, int vector, std::vector<BankDigit>& digits) {
  if (axis < 0 || vector == 1 || tile.extents[static_cast<std::size_t>(axis)] % vector != 0) return false;
  const auto digit =
      std::find_if(digits.begin(), digits.end(), [&](const BankDigit& d) { return d.axis == axis; });
  digit->divisor = vector;
  digit->extent /= vector;
  if (digit->extent == 1) digits.erase(digit);
  digits.push_back({axis, 1, vector, 0});
  return true;
}

/// Orders of the digits in shared memory in which `lead` finds its accesses in one piece.
std::vector<std::vector<BankDigit>> digit_orders(const BankTile& tile, const BankWalk& lead,
                                                 const BankWalk& other) {
  std::vector<std::vector<BankDigit>> orders{digits_of(tile, lead.order)};
  const int first = innermost(tile, lead), across = innermost(tile, other);
  if (across == first) return orders;
  std::vector<BankDigit> split = orders[0];
  if (split_vector(tile, across, other.vector, split)) orders.push_back(split);
  // The rows of the leading walk's innermost axis, numbered in the other's order.
  std::vector<int> order{first};
  for (const int axis : other.order)
    if (axis != first) order.push_back(axis);
  std::vector<BankDigit> rows = digits_of(tile, order);
  split_vector(tile, across, other.vector, rows);
  orders.push_back(rows);
  return orders;
}

/// An access of several elements where they cannot lie together: both walks cannot have it unless they are
/// fastest along one axis.
BankWalk one_by_one(const BankTile& tile, BankWalk walk) {
  if (walk.access_bytes <= tile.element_bytes) return walk;
  walk.vector = std::max(walk.vector, walk.access_bytes / tile.element_bytes);
  walk.access_bytes = tile.element_bytes;
  return walk;
}

class Solver {
 public:
  Solver(const BankTile& tile, const BankModel& model, const BankLimits& limits)
      : tile_(tile), model_(model), limits_(limits) {
    best_.tile = tile;
    consider(dense_layout(tile), BankRemedy::none);
  }

  BankSolution solve() {
    lead(SharedAccess::write);
    if (!best_.claim.fill.conflict_free() || !best_.claim.drain.conflict_free()) lead(SharedAccess::read);
    return best_;
  }

 private:
  /// The walk that makes accesses of this kind lies in one piece.
  void lead(SharedAccess leading) {
    BankTile tile = tile_;
    const bool filling = leading == SharedAccess::write;
    BankWalk &lead = filling ? tile.fill : tile.drain, &other = filling ? tile.drain : tile.fill;
    if (innermost(tile, lead) != innermost(tile, other)) other = one_by_one(tile, other);
    const SharedAccess crossing = filling ? SharedAccess::read : SharedAccess::write;
    const int unit = std::max({lead.access_bytes, other.access_bytes, model_.bank_bytes});
    for (const std::vector<BankDigit>& digits : digit_orders(tile, lead, other)) {
      const BankSamples samples(tile, model_, digits);
      const BankStrides rule =
          rule_strides(samples, model_, crossing, tile.element_bytes, other.access_bytes, unit);
      for (const BankStrides& strides :
           {rule, search_padding(samples, model_, tile.element_bytes, unit, limits_.shared_bytes, rule)}) {
        const bool dense = strides == dense_strides(digits, tile.element_bytes);
        consider(layout_of(digits, strides, tile.element_bytes),
                 dense ? BankRemedy::none : BankRemedy::padding);
      }
      const BankLayout swizzle =
          search_swizzle(samples, model_, crossing, tile.element_bytes, other.access_bytes, unit);
      consider(swizzle, swizzle.swizzles.empty() ? BankRemedy::none : BankRemedy::swizzle);
    }
  }

  void consider(const BankLayout& layout, BankRemedy remedy) {
    if (layout.bytes > limits_.shared_bytes) return;
    const BankReport claim = count_tile(tile_, layout, model_);
    if (!best_.layout.digits.empty() && !better(layout, remedy, claim)) return;
    best_.layout = layout;
    best_.remedy = remedy;
    best_.claim = claim;
  }

  bool better(const BankLayout& layout, BankRemedy remedy, const BankReport& claim) const {
    if (claim.passes() != best_.claim.passes()) return claim.passes() < best_.claim.passes();
    const std::int64_t dense = tile_.elements() * tile_.element_bytes;
    const auto rank = [&](const BankLayout& one, BankRemedy by) {
      const bool cheap = one.bytes <= dense + dense / 8;
      return by == BankRemedy::none ? 0 : by == BankRemedy::padding ? (cheap ? 1 : 3) : 2;
    };
    const int here = rank(layout, remedy), there = rank(best_.layout, best_.remedy);
    return here != there ? here < there : layout.bytes < best_.layout.bytes;
  }

  const BankTile& tile_;
  const BankModel& model_;
  const BankLimits& limits_;
  BankSolution best_;
};

/// The drain's runs in another order: the fill's innermost axis first. False where it is part of a run, or
/// first already.
bool reorder_runs(BankTile& tile) {
  const auto runs = tile.drain.order.begin() + tile.drain.run;
  const auto axis = std::find(runs, tile.drain.order.end(), innermost(tile, tile.fill));
  if (tile.drain.run == 0 || axis == tile.drain.order.end()) return false;
  std::rotate(runs, axis, axis + 1);
  return axis != runs;
}

double passes_an_element(const BankSolution& solution) {
  return static_cast<double>(solution.claim.passes()) / static_cast<double>(solution.tile.elements());
}

void check(const BankTile& tile, const BankLimits& limits) {
  const std::int64_t bytes = tile.elements() * tile.element_bytes;
  if (bytes > limits.shared_bytes) {
    throw relayout::Error(relayout::ErrorCode::invalid_argument,
                          "bank layout: a tile of " + std::to_string(bytes) + " bytes does not fit " +
                              std::to_string(limits.shared_bytes));
  }
}

}  // namespace

BankSolution solve_banks(const BankTile& tile, const BankModel& model, const BankLimits& limits) {
  check(tile, limits);
  BankSolution best = Solver(tile, model, limits).solve();
  BankTile reordered = tile;
  if (best.claim.passes() > best.claim.least() && reorder_runs(reordered)) {
    BankSolution other = Solver(reordered, model, limits).solve();
    other.reordered = true;
    if (other.claim.passes() < best.claim.passes()) best = other;
  }
  // Axes too short to fill a warp, or whose lanes meet in a bank: a larger tile, while that helps.
  for (std::size_t axis = 0; axis < limits.whole.size(); ++axis) {
    for (std::int64_t growth = 2; growth <= kMaxGrowth; growth *= 2) {
      BankTile larger = best.tile;
      larger.extents = tile.extents;
      larger.extents[axis] = std::min(limits.whole[axis], tile.extents[axis] * growth);
      if (larger.extents[axis] <= best.tile.extents[axis] && best.merged) continue;
      if (larger.extents[axis] == tile.extents[axis] ||
          larger.elements() * larger.element_bytes > limits.shared_bytes) {
        break;
      }
      BankSolution merged = Solver(larger, model, limits).solve();
      merged.merged = true;
      merged.reordered = best.reordered;
      if (passes_an_element(merged) < kWorthGrowing * passes_an_element(best)) best = merged;
    }
  }
  return best;
}

BankLayout padded_by_rule(const BankTile& tile, const BankModel& model) {
  const std::vector<BankDigit> digits = digits_of(tile, tile.fill.order);
  const int unit = std::max(tile.fill.access_bytes, model.bank_bytes);
  return layout_of(digits,
                   rule_strides(BankSamples(tile, model, digits), model, SharedAccess::read,
                                tile.element_bytes, tile.drain.access_bytes, unit),
                   tile.element_bytes);
}

}  // namespace example
