#include "bank_simulator.hpp"

#include <algorithm>
#include <numeric>

namespace example {
namespace {

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// Elements of one access of a lane.
int elements_per_access(const BankTile& tile, const BankWalk& walk) {
  return std::max(1, walk.access_bytes / tile.element_bytes);
}

/// The accesses of one walk.
class WalkVisitor {
 public:
  WalkVisitor(const BankTile& tile, const BankWalk& walk, const BankLayout& layout, SharedAccess access,
              const SharedVisitor& visitor)
      : tile_(tile),
        walk_(walk),
        access_(access),
        visitor_(visitor),
        offsets_(offsets_in_order(tile, layout, walk.order)) {}

  void visit(int lanes) const {
    for (const WarpAccess& one : warp_accesses(tile_, walk_, lanes)) {
      std::vector<std::int64_t> whole(one.first.size(), kNoAddress);
      WarpAccess single = one;
      for (std::size_t lane = 0; lane < one.first.size(); ++lane) {
        if (!together(one.first[lane], one.count[lane])) continue;
        whole[lane] = offset(one.first[lane]);
        single.first[lane] = kNoAddress;
      }
      add(whole, walk_.access_bytes);
      add_singly(single);
    }
  }

 private:
  std::int64_t offset(std::int64_t element) const { return offsets_[static_cast<std::size_t>(element)]; }

  /// Whether a lane's elements are one access.
  bool together(std::int64_t first, int count) const {
    const int all = elements_per_access(tile_, walk_);
    if (all == 1 || first == kNoAddress || count < all || offset(first) % walk_.access_bytes != 0)
      return false;
    for (int i = 1; i < count; ++i) {
      if (offset(first + i) != offset(first) + i * tile_.element_bytes) return false;
    }
    return true;
  }

  /// Element by element, an element in parts where it is wider than an access.
  void add_singly(const WarpAccess& one) const {
    const int bytes = std::min(tile_.element_bytes, walk_.access_bytes);
    for (int i = 0; i < elements_per_access(tile_, walk_); ++i) {
      for (int part = 0; part < tile_.element_bytes; part += bytes) {
        std::vector<std::int64_t> addresses(one.first.size(), kNoAddress);
        for (std::size_t lane = 0; lane < one.first.size(); ++lane) {
          if (one.first[lane] != kNoAddress && i < one.count[lane])
            addresses[lane] = offset(one.first[lane] + i) + part;
        }
        add(addresses, bytes);
      }
    }
  }

  void add(const std::vector<std::int64_t>& addresses, int bytes) const {
    const auto takes_part = [](std::int64_t address) { return address != kNoAddress; };
    if (std::any_of(addresses.begin(), addresses.end(), takes_part)) visitor_(access_, addresses, bytes);
  }

  const BankTile& tile_;
  const BankWalk& walk_;
  SharedAccess access_;
  const SharedVisitor& visitor_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

std::int64_t BankTile::elements() const {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t BankLayout::swizzled(std::int64_t offset) const {
  const std::int64_t chunk = offset / chunk_bytes;
  std::int64_t place = chunk;
  for (const BankSwizzle& swizzle : swizzles) place ^= (chunk >> swizzle.shift) & swizzle.mask;
  return place * chunk_bytes + offset % chunk_bytes;
}

std::int64_t BankLayout::offset(const std::vector<std::int64_t>& index) const {
  std::int64_t sum = 0;
  for (const BankDigit& digit : digits)
    sum += index[static_cast<std::size_t>(digit.axis)] / digit.divisor % digit.extent * digit.stride;
  return swizzled(sum);
}

BankLayout dense_layout(const BankTile& tile) {
  BankLayout layout;
  std::int64_t stride = tile.element_bytes;
  for (const int axis : tile.fill.order) {
    const std::int64_t extent = tile.extents[static_cast<std::size_t>(axis)];
    layout.digits.push_back({axis, 1, extent, stride});
    stride *= extent;
  }
  layout.bytes = stride;
  return layout;
}

std::vector<std::int64_t> offsets_in_order(const BankTile& tile, const BankLayout& layout,
                                           const std::vector<int>& order) {
  // Without the swizzle, an element's offset is a sum over axes: grown from axis to axis.
  std::vector<std::int64_t> offsets{0};
  for (const int axis : order) {
    const std::vector<std::int64_t> inner = offsets;
    offsets.clear();
    for (std::int64_t i = 0; i < tile.extents[static_cast<std::size_t>(axis)]; ++i) {
      std::int64_t step = 0;
      for (const BankDigit& digit : layout.digits) {
        if (digit.axis == axis) step += i / digit.divisor % digit.extent * digit.stride;
      }
      for (const std::int64_t offset : inner) offsets.push_back(offset + step);
    }
  }
  for (std::int64_t& offset : offsets) offset = layout.swizzled(offset);
  return offsets;
}

std::vector<WarpAccess> warp_accesses(const BankTile& tile, const BankWalk& walk, int lanes) {
  const int all = elements_per_access(tile, walk), taken = std::max(walk.vector, all);
  const std::size_t run_axes = walk.run > 0 ? static_cast<std::size_t>(walk.run) : walk.order.size();
  std::int64_t run = 1;
  for (std::size_t k = 0; k < run_axes; ++k) run *= tile.extents[static_cast<std::size_t>(walk.order[k])];
  const std::int64_t runs = tile.elements() / run, vectors = divide_up(run, taken);
  const std::int64_t width = walk.strip > 0 ? std::min<std::int64_t>(walk.strip, vectors) : vectors;
  const std::int64_t items = divide_up(vectors, width) * runs * width;
  std::vector<WarpAccess> accesses;
  for (std::int64_t warp = 0; warp < items; warp += lanes) {
    for (int step = 0; step < taken; step += all) {
      WarpAccess access;
      for (std::int64_t item = warp; item < std::min(items, warp + lanes); ++item) {
        const std::int64_t place = (item / width / runs * width + item % width) * taken + step;
        const bool exists = place < run;
        access.first.push_back(exists ? item / width % runs * run + place : kNoAddress);
        access.count.push_back(exists ? static_cast<int>(std::min<std::int64_t>(all, run - place)) : 0);
      }
      accesses.push_back(std::move(access));
    }
  }
  return accesses;
}

void visit_tile(const BankTile& tile, const BankLayout& layout, int lanes, const SharedVisitor& visit) {
  WalkVisitor(tile, tile.fill, layout, SharedAccess::write, visit).visit(lanes);
  WalkVisitor(tile, tile.drain, layout, SharedAccess::read, visit).visit(lanes);
}

BankReport count_tile(const BankTile& tile, const BankLayout& layout, const BankModel& model) {
  BankReport report;
  visit_tile(tile, layout, model.lanes, counting(model, report));
  return report;
}

}  // namespace example
