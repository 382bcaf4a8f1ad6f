#include "host/plan/copy/tile_builder.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/tile_layout.hpp"

namespace relayout::plan {
namespace {

/// Bytes of a row that is worth its entry in the kernel's table.
constexpr std::int64_t kShortestRow = 64;

std::uint32_t odd_axes_of(const Dims& strides, std::int64_t vector) {
  std::uint32_t odd = 0;
  for (std::size_t axis = 0; axis < strides.size(); ++axis)
    odd |= std::uint32_t{!whole_vectors(strides[axis], vector)} << axis;
  return odd;
}

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
      write_vector_(kVectorBytes / target.out_bytes),
      elements_per_thread_(kTileBytesPerThread / std::max(target.in_bytes, target.out_bytes)),
      odd_in_(odd_axes_of(in_, read_vector_)),
      odd_out_(odd_axes_of(out_, write_vector_)) {}

/// Rows of whole words that start anywhere are read with the words beside them, 16 bytes at a time: rows that
/// are a vector short of a power of two take whole warps.
std::int64_t TileBuilder::bytes_beside_rows() const {
  if (target_.in_bytes != target_.out_bytes || target_.in_bytes < 4) return 0;
  const bool aligned = target_.in_offset % kVectorBytes == 0 && (odd_in_ & ~(1u << read_[0])) == 0;
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

TileExtents TileBuilder::filled_up(TileExtents box, std::int64_t capacity, bool new_axes) const {
  std::int64_t elements = 1;
  int tail_axes = 0;  // axes along which the last tile is short: a tile has at most two
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    elements *= box[axis];
    if (box[axis] > 1 && nest_.extents[axis] % box[axis] != 0) ++tail_axes;
  }
  for (int k = 0; k < nest_.rank() && elements * 2 <= capacity; ++k) {
    const int axis = write_[k];
    const std::int64_t extent = nest_.extents[axis], step = box[axis];
    if (step == extent || (new_axes && step > 1)) continue;
    const bool had_tail = step > 1 && extent % step != 0;
    const std::int64_t fewest = divide_up(extent, std::min(extent, step * divide(capacity, elements)));
    std::int64_t pieces = fewest;
    for (; pieces < fewest + 4 && extent % pieces != 0;) ++pieces;
    if (extent % pieces != 0) pieces = fewest;
    const std::int64_t even = divide_up(extent, pieces);
    const bool has_tail = extent % even != 0;
    if (even <= step || (step > 1 && even % step != 0) || (has_tail && !had_tail && tail_axes == 2)) continue;
    tail_axes += (has_tail ? 1 : 0) - (had_tail ? 1 : 0);
    box[axis] = static_cast<std::int32_t>(even);
    elements = divide(elements, step) * even;
  }
  return box;
}

TileRuns TileBuilder::runs_of(const TileExtents& box) const {
  const auto follow = [&](const AxisOrder& order, const Dims& strides, std::uint32_t& axes) {
    std::int64_t run = 1;
    for (int k = 0; k < nest_.rank(); ++k) {
      const int axis = order[k];
      if (strides[axis] != run) break;
      run *= box[axis];
      axes |= std::uint32_t{1} << axis;
      if (box[axis] != nest_.extents[axis]) break;
    }
    return run;
  };
  TileRuns runs{};
  std::uint32_t read_axes = 0, write_axes = 0;
  runs.read = follow(read_, in_, read_axes);
  runs.write = follow(write_, out_, write_axes);
  runs.unaligned = target_.in_offset % kVectorBytes != 0 || (odd_in_ & ~read_axes) != 0;
  return runs;
}

/// Whether lanes that put together neighbouring output vectors from elements along a row meet different
/// banks, if these rows go on: the vectors lie a multiple of all banks apart otherwise, unless the axis is so
/// short that they run along the next one, too.
bool TileBuilder::reads_along_rows(const TilePlan& plan, const TileOrder& rows) const {
  constexpr std::int64_t kAllBanks = 128;
  return plan.extent[plan.write.axes[0]] < 2 * write_vector_ ||
         rows.run_elements * kVectorBytes % kAllBanks != 0;
}

/// Whether Assembly::elements can put output vectors together from elements along a row. Shorter elements are
/// better off as words of several rows.
bool TileBuilder::assembles_along_rows(const TilePlan& plan) const {
  return target_.out_bytes >= 4 && target_.out_offset % kVectorBytes == 0 &&
         whole_vectors(plan.extent[plan.write.axes[0]], write_vector_) &&
         runs_aligned(odd_out_, plan, plan.write, write_vector_);
}

/// The tile's axes in both orders. Each side's run ends in front of the axis along which the other is
/// fastest, where what lies in front of it is whole vectors: then the elements of an output vector come from
/// different rows, and the elements of a row go to different output runs. But very short rows cost more,
/// since each has an entry in the table, than the bank conflicts that they avoid.
bool TileBuilder::order_tile(TilePlan& plan, bool scattered) const {
  if (!order_axes(write_, out_, nest_.extents, plan.extent, plan.step, plan.write) ||
      !order_axes(read_, in_, nest_.extents, plan.extent, plan.step, plan.read)) {
    return false;
  }
  const int written = plan.write.axes[0], read = plan.read.axes[0];
  if (written == read) return true;
  const TileOrder rows = ended_at(plan.read, written, plan.extent),
                  runs = ended_at(plan.write, read, plan.extent);
  const bool joined = rows.run_elements * target_.in_bytes < kShortestRow && reads_along_rows(plan, rows) &&
                      (scattered || assembles_along_rows(plan));
  if (rows.run > 0 && whole_vectors(rows.run_elements, read_vector_) && !joined) plan.read = rows;
  if (runs.run > 0 && whole_vectors(runs.run_elements, write_vector_) &&
      target_.out_offset % kVectorBytes == 0) {
    plan.write = runs;
  }
  return true;
}

/// Whether every run of the operand, of every tile, starts on a multiple of `vector` elements and ends on
/// one. `odd_axes`: those along which not every step is one.
bool TileBuilder::runs_aligned(std::uint32_t odd_axes, const TilePlan& plan, const TileOrder& order,
                               std::int64_t vector) const {
  std::int64_t inner = 1;  // elements of the run so far
  for (int k = 0; k < order.run; ++k) {
    const int axis = order.axes[k];
    const std::int64_t step = plan.step[axis], extent = nest_.extents[axis];
    const bool whole =
        whole_vectors(inner * step, vector) && whole_vectors(inner * (extent & (vector - 1)), vector);
    if (step < extent && !whole) return false;
    inner *= plan.extent[axis];
  }
  return whole_vectors(inner, vector) && (odd_axes & ~order.run_axes) == 0;
}

/// Runs that start anywhere: the tile takes in what the next one's runs leave out in front of their first
/// sector boundary.
bool TileBuilder::unaligned_writes(TilePlan& plan, bool outside_run) const {
  const bool groups = outside_run && target_.groups && target_.out_bytes < 4;
  plan.assembly = groups        ? Assembly::unaligned_groups
                  : outside_run ? Assembly::unaligned_rows
                                : Assembly::unaligned_columns;
  plan.row_group = tile_row_group(plan.assembly, target_.out_bytes);
  const int axis = plan.write.axes[plan.write.run - 1];
  if (plan.step[axis] == nest_.extents[axis]) return true;
  if (!outside_run && axis != plan.read.axes[plan.read.run - 1]) return false;
  const std::int64_t sector = kTileRunAlignment / target_.out_bytes;
  const std::int64_t inner = divide(plan.write.run_elements, plan.step[axis]),
                     extra = divide_up(sector, inner);
  if (plan.step[axis] <= 2 * extra || !whole_vectors(inner * (plan.step[axis] - extra), sector)) return false;
  plan.unaligned_axis = axis;
  plan.step[axis] -= static_cast<std::int32_t>(extra);
  return order_tile(plan, false);
}

bool TileBuilder::choose_assembly(TilePlan& plan, bool scattered) const {
  plan.unaligned =
      target_.in_offset % kVectorBytes != 0 || !runs_aligned(odd_in_, plan, plan.read, read_vector_);
  const bool out_aligned =
      target_.out_offset % kVectorBytes == 0 && runs_aligned(odd_out_, plan, plan.write, write_vector_);
  plan.unaligned_out = !out_aligned;
  if (scattered) {
    plan.assembly = Assembly::scattered;
    return true;
  }
  const int fastest = plan.write.axes[0], row = plan.read.axes[0];
  const bool whole = whole_vectors(plan.extent[fastest], write_vector_);
  const bool outside_run = (plan.write.run_axes & plan.read.run_axes) == 0;
  const bool one_step = outside_run || plan.write.run == 1;
  if (!out_aligned && one_step) return unaligned_writes(plan, outside_run);
  if (!out_aligned || !(one_step || whole)) return false;
  if (fastest == row && whole) {
    plan.assembly = Assembly::vectors;
  } else {
    const int group = 4 / target_.out_bytes;
    const bool grouped = group > 1 && outside_run && !plan.write.in_run(row) &&
                         nest_.extents[row] % group == 0 && plan.step[row] % group == 0;
    plan.assembly = grouped ? Assembly::words : Assembly::elements;
    plan.grouped = grouped ? group : 1;
  }
  return true;
}

bool TileBuilder::find_cuts(TilePlan& plan) const {
  int tail_axes = 0;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    const std::int64_t extent = nest_.extents[axis], step = plan.step[axis];
    if (steps_along(extent, step) * step == extent && plan.extent[axis] == step) continue;
    if (tail_axes == 2 || plan.extent[axis] > 0xffff) return false;
    plan.tail_axes[tail_axes++] = axis;
  }
  return true;
}

TilePlan TileBuilder::build(const TileBox& box, bool scattered) const {
  TilePlan plan;
  plan.extent = plan.step = box.extent;
  plan.elements = box.elements;
  if (box.elements > capacity(box.most)) return plan;
  if (!order_tile(plan, scattered) || !choose_assembly(plan, scattered) || !find_cuts(plan)) return plan;
  lay_out(plan);
  plan.threads = threads_for(plan, box.fewest, box.most);
  plan.valid = plan.threads > 0 && fits(plan);
  return plan;
}

}  // namespace relayout::plan
