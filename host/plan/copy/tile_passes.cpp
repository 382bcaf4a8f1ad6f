// What a tile costs the banks of shared memory: an estimate from the first access by which its first warp
// puts output vectors together. tile_banks.hpp counts each access that the kernel makes with its parameters,
// which takes too long for every plan that is compared. Accesses that fill the tile meet few conflicts.
#include <algorithm>
#include <vector>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/tile_layout.hpp"
#include "host/plan/copy/tile_builder.hpp"

namespace relayout::plan {
namespace {

/// A row and a column of shared memory, and the elements from the output's first one.
struct SharedPlace {
  std::uint32_t row = 0, column = 0;
  std::int64_t out = 0;
};

class FirstAccess {
 public:
  FirstAccess(const LoopNest& nest, const TileTarget& target, const TilePlan& plan)
      : nest_(nest),
        plan_(plan),
        steps_(shared_steps(plan)),
        size_(
            static_cast<std::uint32_t>(tile_element_bytes(plan.assembly, target.in_bytes, target.out_bytes))),
        vector_(static_cast<std::uint32_t>(kVectorBytes / target.out_bytes)),
        group_(static_cast<std::uint32_t>(plan.row_group)),
        blocks_(plan.assembly == Assembly::scattered
                    ? static_cast<std::uint32_t>(plan.row_blocks)
                    : static_cast<std::uint32_t>(tile_row_blocks(plan.assembly, target.out_bytes))),
        width_(static_cast<std::uint32_t>(strip_vectors(plan))),
        runs_(static_cast<std::uint32_t>(divide(plan.elements, plan.write.run_elements * plan.grouped))),
        start_(target.out_offset / target.out_bytes) {}

  /// The bytes of shared memory that the lanes of a warp read first, or kNoAddress.
  std::vector<std::int64_t> addresses(std::uint32_t lanes) const {
    std::vector<std::int64_t> found(lanes, kNoAddress);
    std::uint32_t run = 0, strip_begin = 0;
    SharedPlace first;
    for (std::uint32_t lane = 0, in_strip = 0; lane < lanes; ++lane) {
      const std::uint32_t vector = strip_begin + in_strip;
      if (vector < plan_.write_vectors) found[lane] = address_of(first, vector);
      if (++in_strip < width_) continue;
      in_strip = 0;
      if (++run == runs_) {
        run = 0;
        strip_begin += width_;
      }
      first = SharedPlace();
      walk(plan_.write.run, plan_.write.count, run, first);
    }
    return found;
  }

  /// Bytes of a lane's access, and how many accesses a vector takes.
  std::uint32_t bytes() const {
    return plan_.assembly == Assembly::vectors ? vector_ * size_
           : plan_.assembly == Assembly::words ? 4
                                               : size_ * group_;
  }
  std::uint32_t accesses() const {
    if (plan_.assembly == Assembly::vectors) return 1;
    return group_ > 1 ? vector_ / group_ + 1 : vector_;
  }
  /// Vectors that lanes take one after the other, with the places of strips that are not full.
  std::int64_t items() const {
    return round_up(plan_.write_vectors, static_cast<std::int64_t>(width_)) * runs_;
  }

 private:
  /// The byte at which a lane begins a vector of the run that begins at `place`, or kNoAddress.
  std::int64_t address_of(SharedPlace place, std::uint32_t vector) const {
    const std::int64_t start = start_ + place.out;
    std::int64_t element = std::int64_t{vector} * vector_;
    const bool unaligned = is_unaligned(plan_.assembly);
    if (unaligned) element += -start & (kTileRunAlignment / size_ - 1);
    if (plan_.assembly == Assembly::scattered) element -= start & (vector_ - 1);
    // The ends of runs that start anywhere take accesses of their own.
    if (element < 0 || element + (unaligned ? vector_ : 1) > plan_.write.run_elements) return kNoAddress;
    walk(0, plan_.write.run, static_cast<std::uint32_t>(element), place);
    return byte_of(place);
  }

  /// Goes on to item `number` of those along axes [begin, end) of the output's order. The axis along which
  /// the input is fastest counts `grouped` elements at a time, and is none of the run's where these are more.
  void walk(int begin, int end, std::uint32_t number, SharedPlace& place) const {
    for (int k = begin; k < end && number != 0; ++k) {
      const int axis = plan_.write.axes[k];
      const auto step = static_cast<std::uint32_t>(axis == plan_.read.axes[0] ? plan_.grouped : 1);
      const std::uint32_t extent = static_cast<std::uint32_t>(plan_.extent[axis]) / step;
      const std::uint32_t outer = k + 1 == end ? 0 : number / extent;  // the last axis has all that is left
      const std::uint32_t index = (number - outer * extent) * step;
      place.row += index * steps_.row[axis];
      place.column += index * steps_.column[axis];
      place.out += index * nest_.strides[0][axis];
      number = outer;
    }
  }

  std::int64_t byte_of(const SharedPlace& place) const {
    const auto in_block = static_cast<std::uint32_t>(plan_.rows_per_block),
               pitch = static_cast<std::uint32_t>(plan_.pitch);
    std::uint32_t row = place.row / group_, begin = 0;
    if (plan_.assembly == Assembly::scattered) {
      // From one group of the rows that an output run meets to the next.
      const auto rows = static_cast<std::uint32_t>(plan_.run_rows);
      begin = row / rows * in_block * blocks_ * pitch;
      row %= rows;
    }
    return begin + tile_row_begin(row, blocks_, in_block, pitch) +
           tile_column_begin(place.column, group_, size_);
  }

  const LoopNest& nest_;
  const TilePlan& plan_;
  const SharedSteps steps_;
  const std::uint32_t size_, vector_, group_, blocks_, width_, runs_;
  const std::int64_t start_;
};

}  // namespace

TilePasses tile_passes(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  const FirstAccess first(nest, target, plan);
  const auto lanes = static_cast<std::uint32_t>(target.banks.lanes);
  BankCount count;
  add_access(target.banks, SharedAccess::read, first.addresses(lanes), static_cast<int>(first.bytes()),
             count);
  return {std::max(1, static_cast<int>(count.passes)),
          divide_up<std::int64_t>(first.items(), lanes) * first.accesses()};
}

}  // namespace relayout::plan
