#include "host/plan/tile_builder.hpp"

#include <algorithm>
#include <cstdlib>

#include "host/plan/tile_rules.hpp"

namespace relayout::plan {
namespace {

constexpr int kVectorBytes = 16;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
std::int64_t round_up(std::int64_t value, std::int64_t to) { return divide_up(value, to) * to; }

}  // namespace

std::int64_t elements_of(const TileExtents& box, int rank) {
  std::int64_t elements = 1;
  for (int axis = 0; axis < rank; ++axis) elements *= box[axis];
  return elements;
}

TileBuilder::TileBuilder(const LoopNest& nest, const TileTarget& target)
    : nest_(nest),
      target_(target),
      in_(nest.strides[1]),
      out_(nest.strides[0]),
      read_(sorted_by(in_)),
      write_(sorted_by(out_)),
      read_vector_(kVectorBytes / target.in_bytes),
      write_vector_(kVectorBytes / target.out_bytes) {}

std::int64_t TileBuilder::capacity(int threads) const {
  return static_cast<std::int64_t>(threads) * kTileBytesPerThread /
         std::max(target_.in_bytes, target_.out_bytes);
}

/// Rows of whole words that start anywhere are read with the words beside them, 16 bytes at a time: rows that
/// are a vector short of a power of two take whole warps.
std::int64_t TileBuilder::bytes_beside_rows() const {
  if (target_.in_bytes != target_.out_bytes || target_.in_bytes < 4) return 0;
  bool aligned = target_.in_offset % kVectorBytes == 0;
  for (int axis = 0; axis < nest_.rank(); ++axis)
    aligned = aligned && (axis == read_[0] || in_[static_cast<std::size_t>(axis)] % read_vector_ == 0);
  return aligned ? 0 : kVectorBytes;
}

TileExtents TileBuilder::grow(const AxisOrder& order, const Dims& strides, std::int64_t elements) const {
  TileExtents box;
  box.fill(1);
  std::int64_t run = 1;
  for (int k = 0; k < nest_.rank() && run < elements; ++k) {
    const int axis = order[k];
    const std::int64_t extent = nest_.extents[axis], wanted = divide_up(elements, run);
    if (strides[axis] != run) break;  // a gap
    // Along the fastest axis whole vectors; else pieces of one size.
    const std::int64_t tile =
        k == 0 || wanted >= extent ? wanted : divide_up(extent, divide_up(extent, wanted));
    box[axis] = static_cast<std::int32_t>(std::min(extent, tile));
    if (wanted < extent) break;
    run *= extent;
  }
  return box;
}

TileExtents TileBuilder::filled_up(TileExtents box, std::int64_t capacity) const {
  std::int64_t elements = elements_of(box, nest_.rank());
  for (int k = 0; k < nest_.rank() && elements * 2 <= capacity; ++k) {
    const int axis = write_[k];
    const std::int64_t extent = nest_.extents[axis], step = box[axis];
    if (step == extent) continue;
    const std::int64_t room = std::min(extent, step * (capacity / elements));
    const std::int64_t even = divide_up(extent, divide_up(extent, room));
    if (step > 1 && even % step != 0) continue;
    box[axis] = static_cast<std::int32_t>(even);
    elements = elements / step * even;
  }
  return box;
}

/// The tile's axes in both orders. Each side's run ends in front of the axis along which the other is
/// fastest, where what lies in front of it is whole vectors: then the elements of an output vector come from
/// different rows, and the elements of a row go to different output runs.
bool TileBuilder::order_tile(TilePlan& plan) const {
  if (!order_side(write_, out_, plan, -1, plan.write) || !order_side(read_, in_, plan, -1, plan.read))
    return false;
  const int written = plan.write.axes[0], read = plan.read.axes[0];
  if (written == read) return true;
  TileOrder shorter;
  if (order_side(read_, in_, plan, written, shorter) && shorter.run_elements % read_vector_ == 0)
    plan.read = shorter;
  if (order_side(write_, out_, plan, read, shorter) && shorter.run_elements % write_vector_ == 0 &&
      target_.out_offset % kVectorBytes == 0) {
    plan.write = shorter;
  }
  return true;
}

/// Whether every run of the operand, of every tile, starts on a multiple of `vector` elements and ends on
/// one.
bool TileBuilder::runs_aligned(const Dims& strides, const TilePlan& plan, const TileOrder& order,
                               std::int64_t vector) const {
  std::int64_t inner = 1;
  for (int k = 0; k < order.run; ++k) {
    const int axis = order.axes[k];
    const std::int64_t step = plan.step[axis];
    if (step < nest_.extents[axis] &&
        (inner * step % vector != 0 || inner * (nest_.extents[axis] % step) % vector != 0)) {
      return false;
    }
    inner *= plan.extent[axis];
  }
  if (inner % vector != 0) return false;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    if (!order.in_run(axis) && strides[axis] % vector != 0) return false;
  }
  return true;
}

/// Runs that start anywhere: the tile takes in what the next one's runs leave out in front of their first
/// sector boundary.
bool TileBuilder::skew(TilePlan& plan, bool outside_run) const {
  plan.assembly = outside_run ? TileWrite::skewed_rows : TileWrite::skewed_columns;
  if (outside_run) plan.row_group = std::max(1, 4 / target_.out_bytes);
  const int axis = plan.write.axes[plan.write.run - 1];
  if (plan.step[axis] == nest_.extents[axis]) return true;
  if (!outside_run && axis != plan.read.axes[plan.read.run - 1]) return false;
  const std::int64_t sector = kTileSkewBytes / target_.out_bytes;
  const std::int64_t inner = plan.write.run_elements / plan.step[axis], extra = divide_up(sector, inner);
  if (plan.step[axis] <= 2 * extra || inner * (plan.step[axis] - extra) % sector != 0) return false;
  plan.skewed_axis = axis;
  plan.step[axis] -= static_cast<std::int32_t>(extra);
  return order_tile(plan);
}

bool TileBuilder::choose_assembly(TilePlan& plan) const {
  plan.unaligned = target_.in_offset % kVectorBytes != 0 || !runs_aligned(in_, plan, plan.read, read_vector_);
  const bool out_aligned =
      target_.out_offset % kVectorBytes == 0 && runs_aligned(out_, plan, plan.write, write_vector_);
  const int fastest = plan.write.axes[0], row = plan.read.axes[0];
  const bool whole_vectors = plan.extent[fastest] % write_vector_ == 0;
  bool outside_run = true;
  for (int k = 0; k < plan.write.run; ++k) outside_run = outside_run && !plan.read.in_run(plan.write.axes[k]);
  const bool one_step = outside_run || plan.write.run == 1;
  if (!out_aligned && one_step) return skew(plan, outside_run);
  if (!out_aligned || !(one_step || whole_vectors)) {
    plan.assembly = TileWrite::mixed;
  } else if (fastest == row && whole_vectors) {
    plan.assembly = TileWrite::vectors;
  } else {
    const int group = 4 / target_.out_bytes;
    const bool grouped = group > 1 && outside_run && !plan.write.in_run(row) &&
                         nest_.extents[row] % group == 0 && plan.step[row] % group == 0;
    plan.assembly = grouped ? TileWrite::words : TileWrite::elements;
    plan.grouped = grouped ? group : 1;
  }
  return true;
}

bool TileBuilder::find_cuts(TilePlan& plan) const {
  int cuts = 0;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    if (nest_.extents[axis] % plan.step[axis] == 0 && plan.extent[axis] == plan.step[axis]) continue;
    if (cuts == 2 || plan.extent[axis] > 0xffff) return false;
    plan.cuts[cuts++] = axis;
  }
  return true;
}

/// Shared memory, and what is written from it. An odd number of 16-byte chunks to a row: neighbouring rows
/// start 4 banks apart, whatever the number of rows. Words of several rows change places among as many
/// chunks.
void TileBuilder::lay_out(TilePlan& plan) const {
  plan.rows = elements_of(plan.extent, nest_.rank()) / plan.read.run_elements;
  std::int64_t covered = plan.write.run_elements;
  if (plan.skewed_axis >= 0) covered = covered / plan.extent[plan.skewed_axis] * plan.step[plan.skewed_axis];
  plan.write_vectors = divide_up(covered, write_vector_);
  const std::int64_t word_bytes = plan.row_group * target_.out_bytes, blocks = kVectorBytes / word_bytes;
  const std::int64_t word_rows = divide_up(plan.rows, plan.row_group);
  const std::int64_t chunks =
      divide_up(round_up(plan.read.run_elements, read_vector_) * word_bytes, kVectorBytes);
  plan.pitch = (round_up(chunks, plan.row_group) | 1) * kVectorBytes;
  plan.rows_by_vector = plan.rows_in_order() ? word_rows : divide_up(word_rows, blocks);
  const bool whole_blocks = !plan.rows_in_order() && word_rows >= blocks;
  plan.tile_bytes = (whole_blocks ? plan.rows_by_vector * blocks : word_rows) * plan.pitch;
  const std::int64_t runs = elements_of(plan.extent, nest_.rank()) / plan.write.run_elements;
  plan.shared_bytes = plan.tile_bytes + kTileBaseBytes + (plan.rows + runs) * kTileRowBytes +
                      plan.write_vectors * kTileVectorBytes;
}

/// Threads, shared memory, 32-bit offsets within the tile, and the grid have room for it.
bool TileBuilder::fits(const TilePlan& plan) const {
  const std::int64_t room = capacity(plan.threads);
  const std::int64_t strips =
      round_up(plan.write_vectors, std::min<std::int64_t>(plan.write_vectors, kTileStripVectors));
  if (round_up(plan.rows, plan.row_group) * round_up(plan.read.run_elements, read_vector_) > room)
    return false;
  if (elements_of(plan.extent, nest_.rank()) / plan.write.run_elements * strips * write_vector_ > room)
    return false;
  if (plan.shared_bytes > target_.shared_bytes) return false;
  double in_reach = 0, out_reach = 0, tiles = 1;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    in_reach += static_cast<double>(plan.extent[axis] - 1) * std::abs(static_cast<double>(in_[axis]));
    out_reach += static_cast<double>(plan.extent[axis] - 1) * std::abs(static_cast<double>(out_[axis]));
    tiles *= static_cast<double>(divide_up(nest_.extents[axis], plan.step[axis]));
  }
  return std::max({in_reach, out_reach, tiles}) < 2147483648.0;
}

TilePlan TileBuilder::build(const TileExtents& box, int threads) const {
  TilePlan plan;
  plan.threads = threads;
  plan.extent = plan.step = box;
  if (elements_of(box, nest_.rank()) > capacity(threads)) return plan;
  if (!order_tile(plan) || !choose_assembly(plan) || !find_cuts(plan)) return plan;
  lay_out(plan);
  plan.valid = fits(plan);
  return plan;
}

}  // namespace relayout::plan
