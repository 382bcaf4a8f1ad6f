// How a tile lies in shared memory, and how many threads move it.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/tile_layout.hpp"
#include "host/plan/copy/tile_builder.hpp"

namespace relayout::plan {

SharedSteps shared_steps(const TilePlan& plan) {
  SharedSteps steps;
  std::uint32_t column = 1, row = 1;
  for (int k = 0; k < plan.read.run; ++k) {
    const int axis = plan.read.axes[k];
    steps.column[axis] = column;
    column *= static_cast<std::uint32_t>(plan.extent[axis]);
  }
  for (int k = 0; k < plan.write.count; ++k) {
    const int axis = plan.write.axes[k];
    if (plan.read.in_run(axis)) continue;
    steps.row[axis] = row;
    row *= static_cast<std::uint32_t>(plan.extent[axis]);
  }
  return steps;
}

std::int64_t strip_vectors(const TilePlan& plan) {
  constexpr std::int64_t kStrip = kTileStripVectors;
  const std::int64_t vectors = plan.write_vectors;
  if (plan.assembly != Assembly::scattered || vectors <= kStrip) return std::min(vectors, kStrip);
  return divide_up(vectors, divide(vectors, kStrip));
}

/// Assembly::scattered: how the rows that an output run meets lie, and after how many elements it repeats.
void TileBuilder::lay_out_run(TilePlan& plan) const {
  for (int k = 0; k < plan.write.run; ++k) {
    const int axis = plan.write.axes[k];
    if (!plan.read.in_run(axis)) plan.run_rows *= plan.extent[axis];
  }
  // The rows of an output vector's elements lie in blocks, as those of the other assemblies do.
  if (!plan.read.in_run(plan.write.axes[0]) && plan.run_rows > write_vector_) plan.row_blocks = write_vector_;
  plan.rows_per_block = divide_up(plan.run_rows, plan.row_blocks);
  plan.period = plan.write.run_elements;
  const int last = plan.write.axes[plan.write.run - 1];
  const bool along_row = plan.read.in_run(last);
  const std::int64_t inner = divide(plan.write.run_elements, plan.extent[last]);
  const std::int64_t rows = along_row ? 1 : divide(plan.run_rows, plan.extent[last]);  // of a step
  // From period to period, rows move on by whole blocks of them.
  std::int64_t steps = divide_up(kScatteredPeriod, inner);
  if (!along_row) steps = round_up(steps, divide(plan.row_blocks, std::gcd(plan.row_blocks, rows)));
  if (2 * steps > plan.extent[last]) return;
  plan.period = inner * steps;
  if (along_row) {
    plan.period_step = steps * tile_element_bytes(plan.assembly, target_.in_bytes, target_.out_bytes);
    for (int k = 0; plan.read.axes[k] != last; ++k) plan.period_step *= plan.extent[plan.read.axes[k]];
  } else {
    plan.period_step = divide(steps * rows, plan.row_blocks) * plan.pitch;
  }
}

/// Shared memory, and what is written from it.
void TileBuilder::lay_out(TilePlan& plan) const {
  plan.rows = divide(plan.elements, plan.read.run_elements);
  std::int64_t covered = plan.write.run_elements;
  if (plan.unaligned_axis >= 0) {
    covered = divide(covered, plan.extent[plan.unaligned_axis]) * plan.step[plan.unaligned_axis];
  }
  const bool scattered = plan.assembly == Assembly::scattered;
  // Runs that start anywhere meet one more vector.
  plan.write_vectors =
      divide_up(covered + (scattered && plan.unaligned_out ? write_vector_ - 1 : 0), write_vector_);
  const std::int64_t word_bytes =
      plan.row_group * tile_element_bytes(plan.assembly, target_.in_bytes, target_.out_bytes);
  const std::int64_t blocks = tile_row_blocks(plan.assembly, target_.out_bytes);
  const std::int64_t word_rows = divide_up(plan.rows, plan.row_group);
  const std::int64_t chunks =
      divide_up(round_up(plan.read.run_elements, read_vector_) * word_bytes, kVectorBytes);
  plan.pitch = tile_pitch(chunks, plan.row_group);
  plan.rows_per_block = divide_up(word_rows, blocks);
  plan.tile_bytes = (word_rows >= blocks ? plan.rows_per_block * blocks : word_rows) * plan.pitch;
  if (scattered) {
    lay_out_run(plan);
    if (plan.unaligned_out || !whole_vectors(plan.period, write_vector_))
      plan.place_copies = tile_place_chunk(write_vector_);
    // A vector that the run fills in part is read as a whole, up to a period further on.
    plan.tile_bytes = divide(plan.rows, plan.run_rows) * plan.rows_per_block * plan.row_blocks * plan.pitch +
                      round_up(plan.period_step, kVectorBytes);
  }
  const std::int64_t runs = divide(plan.elements, plan.write.run_elements);
  plan.shared_bytes = plan.tile_bytes + kTileBaseBytes + tile_entries(plan.rows, runs) * kTileRowBytes +
                      (scattered ? tile_places_bytes(plan.period, write_vector_, plan.place_copies)
                                 : plan.write_vectors * kTileVectorBytes);
}

/// The smallest block whose threads have room for all rows and for all strips of the runs; 0: none.
int TileBuilder::threads_for(const TilePlan& plan, int fewest, int most) const {
  const std::int64_t width = std::min<std::int64_t>(plan.write_vectors, kTileStripVectors);
  const std::int64_t runs = divide(plan.elements, plan.write.run_elements);
  const std::int64_t needed = std::max(
      round_up(plan.rows, plan.row_group) * round_up(plan.read.run_elements, read_vector_),
      plan.assembly == Assembly::scattered ? 0 : runs * round_up(plan.write_vectors, width) * write_vector_);
  for (int threads = fewest; threads <= most; threads *= 2)
    if (needed <= capacity(threads)) return threads;
  return 0;
}

/// Shared memory, 32-bit offsets within the tile, and the grid have room for it.
bool TileBuilder::fits(const TilePlan& plan) const {
  if (plan.shared_bytes > target_.shared_bytes) return false;
  // Places are counted in 16 bits.
  if (plan.assembly == Assembly::scattered && (plan.tile_bytes > 0xffff || plan.period > kScatteredMost))
    return false;
  double in_reach = 0, out_reach = 0, tiles = 1;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    in_reach += static_cast<double>(plan.extent[axis] - 1) * std::abs(static_cast<double>(in_[axis]));
    out_reach += static_cast<double>(plan.extent[axis] - 1) * std::abs(static_cast<double>(out_[axis]));
    tiles *= static_cast<double>(steps_along(nest_.extents[axis], plan.step[axis]));
  }
  return std::max({in_reach, out_reach, tiles}) < 2147483648.0;
}

}  // namespace relayout::plan
