#include "host/plan/tile_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "host/plan/tile_rules.hpp"

namespace relayout::plan {
namespace {

constexpr int kVectorBytes = 16;
/// Where skewed runs start: a sector of the memory.
constexpr int kSectorBytes = 32;
constexpr std::int64_t kShortestRun = 64, kLongestRun = 16384;  // bytes, of the candidates

// Estimated share of the memory's speed, fitted to measurements on an H200 (docs/permute.md): bytes lost per
// run, and the share that is left when a tile uses few of its threads.
constexpr double kLostPerRead = 32, kLostPerWrite = 8;
constexpr double kLeastFull = 0.7;
/// Fewer blocks at a time hide less of each other's waits.
constexpr double kLargeBlocks = 0.955;
/// More instructions an element.
constexpr double kUnaligned = 0.78, kSkewed = 0.9, kMixed = 0.8, kSingleBytes = 0.85;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
std::int64_t round_up(std::int64_t value, std::int64_t to) { return divide_up(value, to) * to; }

/// Makes and judges candidates for one nest.
class TileChooser {
 public:
  TileChooser(const LoopNest& nest, const TileTarget& target)
      : nest_(nest),
        target_(target),
        in_(nest.strides[1]),
        out_(nest.strides[0]),
        read_(sorted_by(in_)),
        write_(sorted_by(out_)),
        read_vector_(kVectorBytes / target.in_bytes),
        write_vector_(kVectorBytes / target.out_bytes) {}

  std::int64_t capacity(int threads) const {
    return static_cast<std::int64_t>(threads) * kTileBytesPerThread /
           std::max(target_.in_bytes, target_.out_bytes);
  }
  /// Whether both sides are fastest along the same axis.
  bool one_axis() const { return read_[0] == write_[0]; }
  /// One candidate: runs of about so many bytes, where the axes allow.
  TilePlan make(int threads, std::int64_t read_bytes, std::int64_t write_bytes) const;

 private:
  void grow(const AxisOrder& order, const Dims& strides, std::int64_t elements, TilePlan& plan) const;
  void fill_up(std::int64_t capacity, TilePlan& plan) const;
  bool order_side(const AxisOrder& order, const Dims& strides, const TilePlan& plan, int end,
                  TileOrder& result) const {
    return order_axes(order, strides, nest_.extents, plan.extent, plan.step, end, result);
  }
  bool order_tile(TilePlan& plan) const;
  bool runs_aligned(const Dims& strides, const TilePlan& plan, const TileOrder& order,
                    std::int64_t vector) const;
  bool choose_assembly(TilePlan& plan) const;
  bool skew(TilePlan& plan, bool outside_run) const;
  bool find_cuts(TilePlan& plan) const;
  void lay_out(TilePlan& plan, std::int64_t elements) const;
  bool fits(const TilePlan& plan, std::int64_t elements) const;
  double score(const TilePlan& plan, std::int64_t elements) const;

  const LoopNest& nest_;
  const TileTarget& target_;
  const Dims &in_, &out_;
  AxisOrder read_, write_;
  std::int64_t read_vector_, write_vector_;
};

/// Grows the tile along an operand's axes until its run has about `elements`.
void TileChooser::grow(const AxisOrder& order, const Dims& strides, std::int64_t elements,
                       TilePlan& plan) const {
  std::int64_t run = 1;
  for (int k = 0; k < nest_.rank() && run < elements; ++k) {
    const int axis = order[k];
    const std::int64_t extent = nest_.extents[axis], wanted = divide_up(elements, run);
    if (strides[axis] != run) return;  // a gap
    // Along the fastest axis whole vectors; else pieces of one size.
    const std::int64_t tile =
        k == 0 || wanted >= extent ? wanted : divide_up(extent, divide_up(extent, wanted));
    plan.step[axis] =
        static_cast<std::int32_t>(std::min(extent, std::max<std::int64_t>(plan.step[axis], tile)));
    if (wanted < extent) return;
    run *= extent;
  }
}

/// Where both sides run along one axis: more of the other axes, while the tile has room, the output's order
/// first.
void TileChooser::fill_up(std::int64_t capacity, TilePlan& plan) const {
  std::int64_t elements = 1;
  for (int axis = 0; axis < nest_.rank(); ++axis) elements *= plan.step[axis];
  for (int k = 0; k < nest_.rank() && elements * 2 <= capacity; ++k) {
    const int axis = write_[k];
    const std::int64_t extent = nest_.extents[axis], step = plan.step[axis];
    if (step == extent) continue;
    const std::int64_t room = std::min(extent, step * (capacity / elements));
    const std::int64_t even = divide_up(extent, divide_up(extent, room));
    if (step > 1 && even % step != 0) continue;
    plan.step[axis] = static_cast<std::int32_t>(even);
    elements = elements / step * even;
  }
}

/// The tile's axes in both orders. Each side's run ends in front of the axis along which the other is
/// fastest, where what lies in front of it is whole vectors: then the elements of an output vector come from
/// different rows, and the elements of a row go to different output runs.
bool TileChooser::order_tile(TilePlan& plan) const {
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
bool TileChooser::runs_aligned(const Dims& strides, const TilePlan& plan, const TileOrder& order,
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
bool TileChooser::skew(TilePlan& plan, bool outside_run) const {
  plan.assembly = TileWrite::skewed;
  const int axis = plan.write.axes[plan.write.run - 1];
  if (plan.step[axis] == nest_.extents[axis]) return true;
  if (!outside_run && axis != plan.read.axes[plan.read.run - 1]) return false;
  const std::int64_t sector = kSectorBytes / target_.out_bytes;
  const std::int64_t inner = plan.write.run_elements / plan.step[axis], extra = divide_up(sector, inner);
  if (plan.step[axis] <= 2 * extra || inner * (plan.step[axis] - extra) % sector != 0) return false;
  plan.skewed_axis = axis;
  plan.step[axis] -= static_cast<std::int32_t>(extra);
  return order_tile(plan);
}

bool TileChooser::choose_assembly(TilePlan& plan) const {
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

bool TileChooser::find_cuts(TilePlan& plan) const {
  int cuts = 0;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    if (nest_.extents[axis] % plan.step[axis] == 0 && plan.extent[axis] == plan.step[axis]) continue;
    if (cuts == 2 || plan.extent[axis] > 0xffff) return false;
    plan.cuts[cuts++] = axis;
  }
  return true;
}

/// Shared memory, and what is written from it. An odd number of 16-byte chunks to a row: neighbouring rows
/// start 4 banks apart, whatever the number of rows.
void TileChooser::lay_out(TilePlan& plan, std::int64_t elements) const {
  plan.rows = elements / plan.read.run_elements;
  plan.pitch =
      (divide_up(round_up(plan.read.run_elements, read_vector_) * target_.out_bytes, kVectorBytes) | 1) *
      kVectorBytes;
  plan.rows_by_vector = plan.rows_in_order() ? plan.rows : divide_up(plan.rows, write_vector_);
  const bool whole_blocks = !plan.rows_in_order() && plan.rows >= write_vector_;
  plan.shared_bytes = (whole_blocks ? plan.rows_by_vector * write_vector_ : plan.rows) * plan.pitch;
  std::int64_t covered = plan.write.run_elements;
  if (plan.skewed_axis >= 0) covered = covered / plan.extent[plan.skewed_axis] * plan.step[plan.skewed_axis];
  plan.write_vectors = divide_up(covered, write_vector_);
}

/// Threads, shared memory, 32-bit offsets within the tile, and the grid have room for it.
bool TileChooser::fits(const TilePlan& plan, std::int64_t elements) const {
  const std::int64_t room = capacity(plan.threads);
  const std::int64_t strips =
      round_up(plan.write_vectors, std::min<std::int64_t>(plan.write_vectors, kTileStripVectors));
  if (plan.rows * round_up(plan.read.run_elements, read_vector_) > room) return false;
  if (elements / plan.write.run_elements * strips * write_vector_ > room) return false;
  if (plan.shared_bytes > target_.shared_bytes) return false;
  double in_reach = 0, out_reach = 0, tiles = 1;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    in_reach += static_cast<double>(plan.extent[axis] - 1) * std::abs(static_cast<double>(in_[axis]));
    out_reach += static_cast<double>(plan.extent[axis] - 1) * std::abs(static_cast<double>(out_[axis]));
    tiles *= static_cast<double>(divide_up(nest_.extents[axis], plan.step[axis]));
  }
  return std::max({in_reach, out_reach, tiles}) < 2147483648.0;
}

double TileChooser::score(const TilePlan& plan, std::int64_t elements) const {
  double whole = 1, tiles = 1;
  for (int axis = 0; axis < nest_.rank(); ++axis) {
    const std::int64_t count = divide_up(nest_.extents[axis], plan.step[axis]);
    whole *= static_cast<double>(nest_.extents[axis]) / static_cast<double>(count * plan.step[axis]);
    tiles *= static_cast<double>(count);
  }
  const auto rate = [](std::int64_t bytes, double lost) {
    return static_cast<double>(bytes) / (static_cast<double>(bytes) + lost);
  };
  const double full = static_cast<double>(elements) / static_cast<double>(capacity(plan.threads));
  const double busy = std::min(1.0, tiles / static_cast<double>(2 * target_.multiprocessors));
  double work = plan.unaligned ? kUnaligned : 1.0;
  if (plan.assembly == TileWrite::skewed) work *= kSkewed;
  if (plan.assembly == TileWrite::mixed) work *= kMixed;
  if (plan.assembly == TileWrite::elements && target_.out_bytes == 1) work *= kSingleBytes;
  if (plan.threads > 256) work *= kLargeBlocks;
  return whole * work * (kLeastFull + (1 - kLeastFull) * full) * (0.2 + 0.8 * busy) *
         rate(plan.read.gapless_elements * target_.in_bytes, kLostPerRead) *
         rate(plan.write.gapless_elements * target_.out_bytes, kLostPerWrite);
}

TilePlan TileChooser::make(int threads, std::int64_t read_bytes, std::int64_t write_bytes) const {
  TilePlan plan;
  plan.threads = threads;
  plan.step.fill(1);
  grow(read_, in_, read_bytes / target_.in_bytes, plan);
  grow(write_, out_, write_bytes / target_.out_bytes, plan);
  if (one_axis()) fill_up(capacity(threads), plan);
  std::int64_t elements = 1;
  for (int axis = 0; axis < nest_.rank(); ++axis) elements *= plan.step[axis];
  if (elements > capacity(threads)) return plan;
  plan.extent = plan.step;
  if (!order_tile(plan) || !choose_assembly(plan) || !find_cuts(plan)) return plan;
  lay_out(plan, elements);
  if (!fits(plan, elements)) return plan;
  plan.score = score(plan, elements);
  plan.valid = true;
  return plan;
}

}  // namespace

TilePlan choose_tile(const LoopNest& nest, const TileTarget& target) {
  TilePlan best;
  if (nest.rank() == 0 || nest.rank() > kMaxRank) return best;
  const TileChooser chooser(nest, target);
  // Small blocks only where large ones would leave multiprocessors without work.
  const bool small = nest.elements() < 4 * target.multiprocessors * chooser.capacity(256);
  for (int threads = small ? 64 : 256; threads <= (small ? 256 : kMostTileThreads); threads *= 2) {
    const std::int64_t room = chooser.capacity(threads) * std::max(target.in_bytes, target.out_bytes);
    for (std::int64_t read = kShortestRun; read <= kLongestRun; read *= 2) {
      for (std::int64_t write = kShortestRun; write <= kLongestRun; write *= 2) {
        // Along one axis the two runs are one.
        if (read > room || write > room || (chooser.one_axis() && read != write)) continue;
        const TilePlan plan = chooser.make(threads, read, write);
        if (plan.valid && plan.score > best.score) best = plan;
      }
    }
  }
  return best;
}

}  // namespace relayout::plan
