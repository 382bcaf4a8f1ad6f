// What a block of the tile kernel is told: a tile plan becomes parameters.

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/copy/tile_builder.hpp"

namespace relayout::plan {
namespace {

class TileParamsBuilder {
 public:
  TileParamsBuilder(const LoopNest& nest, const TilePlan& plan, TileParams& params)
      : nest_(nest), plan_(plan), params_(params), steps_(shared_steps(plan)) {}

  void fill() {
    fill_read();
    fill_shared();
    fill_write();
    fill_grid();
    fill_bounds();
    for (TileAxes* axes : {&params_.read_rest, &params_.write_run, &params_.write_rest})
      steps_with_carry(*axes);
  }

 private:
  bool scattered() const { return plan_.assembly == Assembly::scattered; }

  TileAxes axes_of(const TileOrder& order, int begin, int end, int operand) const {
    TileAxes result;
    for (int k = begin; k < end; ++k) {
      const int axis = order.axes[k];
      TileAxis& to = result.axes[result.count++];
      to.extent = make_divisor(static_cast<std::uint32_t>(plan_.extent[axis]));
      to.offset = static_cast<std::uint32_t>(nest_.strides[operand][axis]);
      to.column = steps_.column[axis];
      to.row = steps_.row[axis];
      to.tail_index = axis == plan_.tail_axes[0] ? 1 : axis == plan_.tail_axes[1] ? 0x10000 : 0;
    }
    return result;
  }

  /// As TileAxis says: from the last axis on, since each is corrected by the one before.
  static void steps_with_carry(TileAxes& axes) {
    for (int k = axes.count - 1; k > 0; --k) {
      TileAxis& axis = axes.axes[k];
      const TileAxis& before = axes.axes[k - 1];
      axis.offset -= before.extent.value * before.offset;
      axis.column -= before.extent.value * before.column;
      axis.row -= before.extent.value * before.row;
      axis.tail_index -= before.extent.value * before.tail_index;
    }
  }

  /// The cut that ends an operand's runs: along the last axis of the run.
  void find_tail(const TileOrder& order, std::int32_t& cut, std::uint32_t& step) const {
    const int axis = order.axes[order.run - 1];
    for (int c = 0; c < 2; ++c) {
      if (plan_.tail_axes[c] != axis) continue;
      cut = c;
      step = static_cast<std::uint32_t>(order.run_elements / plan_.extent[axis]);
    }
  }

  static std::uint32_t size_of_rest(const TileAxes& axes) {
    std::uint32_t size = 1;
    for (int k = 0; k < axes.count; ++k) size *= axes.axes[k].extent.value;
    return size;
  }

  /// The axes along which the tile has rows: in the input's order, or, where several rows share words, as the
  /// rows are numbered.
  TileOrder rows_of_tile() const {
    const TileOrder& order = plan_.row_group > 1 ? plan_.write : plan_.read;
    TileOrder rows;
    for (int k = 0; k < order.count; ++k) {
      if (!plan_.read.in_run(order.axes[k])) rows.axes[rows.count++] = order.axes[k];
    }
    return rows;
  }

  void fill_read() {
    params_.read_rest = axes_of(rows_of_tile(), 0, plan_.read.count - plan_.read.run, 1);
    params_.read_rows = size_of_rest(params_.read_rest);
    if (scattered()) {
      for (TileAxis& axis : params_.read_rest.axes) move_groups(axis, axis.column);
    }
    params_.read_elements = static_cast<std::uint32_t>(plan_.read.run_elements);
    const auto vector = static_cast<std::uint32_t>(16 / size_of(params_.in_type));
    // A row that starts anywhere lies in one more aligned vector.
    const bool words = plan_.unaligned && params_.in_type == params_.out_type && vector <= 4;
    params_.read_vectors = make_divisor(divide_up(params_.read_elements, vector) + (words ? 1 : 0));
    const auto group = static_cast<std::uint32_t>(plan_.row_group);
    params_.read_items = divide_up(params_.read_rows, group) * params_.read_vectors.value;
    find_tail(plan_.read, params_.read_tail, params_.read_tail_step);
    params_.unaligned = plan_.unaligned;
    params_.threads = plan_.threads;
  }

  void fill_shared() {
    params_.pitch = static_cast<std::uint32_t>(plan_.pitch);
    params_.rows_per_block = static_cast<std::uint32_t>(plan_.rows_per_block);
    params_.tile_bytes = static_cast<std::uint32_t>(plan_.tile_bytes);
    params_.shared_bytes = static_cast<std::uint32_t>(plan_.shared_bytes);
    params_.rows_at = params_.tile_bytes + kTileBaseBytes;
  }

  void fill_write() {
    const auto out_bytes = static_cast<int>(size_of(params_.out_type));
    const auto size = static_cast<std::uint32_t>(
        tile_element_bytes(plan_.assembly, static_cast<int>(size_of(params_.in_type)), out_bytes));
    const std::uint32_t vector = 16 / static_cast<std::uint32_t>(out_bytes);
    params_.assembly = plan_.assembly;
    params_.write_run = axes_of(plan_.write, 0, plan_.write.run, 0);
    params_.write_rest = axes_of(plan_.write, plan_.write.run, plan_.write.count, 0);
    for (int k = 0; k < params_.write_run.count; ++k)
      params_.write_run.axes[k].offset = 0;  // the run is contiguous
    params_.write_elements = static_cast<std::uint32_t>(plan_.write.run_elements);
    params_.write_vectors = static_cast<std::uint32_t>(plan_.write_vectors);
    params_.write_width = make_divisor(static_cast<std::uint32_t>(strip_vectors(plan_)));
    find_tail(plan_.write, params_.write_tail, params_.write_tail_step);
    const TileAxis& fastest = params_.write_run.axes[0];
    params_.element_step =
        fastest.column > 0 ? fastest.column * size : params_.rows_per_block * params_.pitch;
    // From the last block of rows back to the next row of the first.
    const auto blocks = static_cast<std::uint32_t>(tile_row_blocks(plan_.assembly, out_bytes));
    params_.element_wrap = fastest.column > 0 ? 0 : (blocks * params_.rows_per_block - 1) * params_.pitch;
    params_.element_column = fastest.column;
    params_.vector_step = fastest.column > 0 ? vector * params_.element_step : params_.pitch;
    if (plan_.grouped > 1) group_rows();
    if (scattered()) count_bytes(size);
    params_.write_rows = make_divisor(size_of_rest(params_.write_rest));
    params_.runs_at = params_.rows_at + params_.read_rows * kTileRowBytes;
    params_.vectors_at =
        params_.rows_at + tile_entries(params_.read_rows, params_.write_rows.value) * kTileRowBytes;
    const std::uint32_t width = params_.write_width.value;
    params_.write_items = round_up(params_.write_vectors, width) * params_.write_rows.value;
  }

  /// Assembly::scattered: an axis along which an output run has no rows moves from one group of such rows to
  /// the next, which counts bytes.
  void move_groups(TileAxis& axis, std::uint32_t& bytes) const {
    const auto rows = static_cast<std::uint32_t>(plan_.run_rows);
    if (axis.row < rows) return;
    bytes +=
        axis.row / rows * static_cast<std::uint32_t>(plan_.rows_per_block * plan_.row_blocks * plan_.pitch);
    axis.row = 0;
  }

  /// Assembly::scattered: between runs, bytes of shared memory in `row`.
  void count_bytes(std::uint32_t size) {
    for (TileAxis& axis : params_.write_rest.axes) {
      std::uint32_t bytes = axis.column * size;
      move_groups(axis, bytes);
      axis.row = bytes;
    }
    params_.period = make_divisor(static_cast<std::uint32_t>(plan_.period));
    params_.period_step = static_cast<std::uint32_t>(plan_.period_step);
    params_.place_copies = static_cast<std::uint32_t>(plan_.place_copies);
    while (plan_.row_blocks >> params_.scattered_shift > 1) ++params_.scattered_shift;
  }

  /// Neighbours along the input's fastest axis are written together.
  void group_rows() {
    const auto group = static_cast<std::uint32_t>(plan_.grouped);
    const int fastest = plan_.read.axes[0];
    for (int k = 0; k < params_.write_rest.count; ++k) {
      if (plan_.write.axes[plan_.write.run + k] != fastest) continue;
      TileAxis& axis = params_.write_rest.axes[k];
      params_.group_step = static_cast<std::int32_t>(axis.offset);
      axis.extent = make_divisor(axis.extent.value / group);
      axis.offset *= group;
      axis.column *= group;
      axis.tail_index *= group;
    }
  }

  void fill_grid() {
    params_.grid_rank = 0;
    std::int64_t tiles = 1;
    // The output's fastest axis first: neighbouring blocks write neighbouring memory.
    for (int axis = nest_.rank() - 1; axis >= 0; --axis) {
      const std::int64_t count = (nest_.extents[axis] + plan_.step[axis] - 1) / plan_.step[axis];
      if (count == 1 && axis != plan_.tail_axes[0] && axis != plan_.tail_axes[1] &&
          axis != plan_.unaligned_axis)
        continue;
      for (int c = 0; c < 2; ++c) {
        if (axis != plan_.tail_axes[c]) continue;
        params_.tail_axes[c].before = make_grid_divisor(tiles);
        params_.tail_axes[c].tiles = make_grid_divisor(count);
        params_.tail_axes[c].step = static_cast<std::uint32_t>(plan_.step[axis]);
        params_.tail_axes[c].tile = static_cast<std::uint32_t>(plan_.extent[axis]);
        params_.tail_axes[c].last =
            static_cast<std::uint32_t>(nest_.extents[axis] - (count - 1) * plan_.step[axis]);
      }
      if (axis == plan_.unaligned_axis) params_.first_grid = params_.grid_rank;
      GridAxis& to = params_.grid[params_.grid_rank++];
      to.tiles = make_divisor(static_cast<std::uint32_t>(count));
      to.in = nest_.strides[1][axis] * plan_.step[axis];
      to.out = nest_.strides[0][axis] * plan_.step[axis];
      tiles *= count;
    }
    params_.tiles = static_cast<std::uint32_t>(tiles);
  }

  /// Which bytes of the input may be read.
  void fill_bounds() {
    const OffsetRange all = offset_range(nest_, 1);
    std::int64_t back = 0, on = 0;  // what a tile reaches of them
    for (int axis = 0; axis < nest_.rank(); ++axis) {
      const std::int64_t stride = nest_.strides[1][axis];
      (stride < 0 ? back : on) += (plan_.extent[axis] - 1) * stride;
    }
    const std::int64_t size = bytes_of(params_.in_type);
    params_.in_begin = all.least * size;
    params_.in_end = (all.greatest + 1) * size;
    // The tile's reach, and a word more on both sides.
    params_.inner_begin = all.least - back + 16;
    params_.inner_end = all.greatest - on - 32;
  }

  const LoopNest& nest_;
  const TilePlan& plan_;
  TileParams& params_;
  SharedSteps steps_;
};

}  // namespace

void fill_tile_params(const LoopNest& nest, const TilePlan& plan, TileParams& params) {
  TileParamsBuilder(nest, plan, params).fill();
}

}  // namespace relayout::plan
