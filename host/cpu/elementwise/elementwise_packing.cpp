#include "host/cpu/elementwise/elementwise_packing.hpp"

#include <algorithm>
#include <cstdlib>

#include "host/cpu/streaming.hpp"

namespace relayout::native {
namespace {

/// Elements from which on a run across the nest is worth packing, and up to which one of the output's is.
constexpr std::int64_t kLeastRun = 8;

/// How many elements follow each other in memory, along whichever axes.
std::int64_t neighbours(const MergedAxes& axes) {
  std::int64_t run = 1;
  for (int found = 0; found < axes.rank; ++found) {
    const auto* const end = axes.strides + axes.rank;
    const auto* const next =
        std::find_if(axes.strides, end, [run](std::int64_t stride) { return std::abs(stride) == run; });
    if (next == end) break;
    run *= axes.extents[next - axes.strides];
  }
  return run;
}

/// Rows of neighbours at one pitch, so many that they are moved together (OperandCursor), in the order in
/// which they lie in memory.
bool has_pitched_rows(const MergedAxes& axes) {
  const std::int64_t pitch = std::abs(axes.strides[axes.rank - 2]);
  return axes.inner_stride() == 1 && axes.extents[axes.rank - 2] >= kLeastPitchedRows &&
         std::none_of(axes.strides, axes.strides + axes.rank - 2,
                      [pitch](std::int64_t stride) { return std::abs(stride) < pitch; });
}

}  // namespace

bool repeats(const MergedAxes& axes) { return std::count(axes.strides, axes.strides + axes.rank, 0) != 0; }

bool is_packed(const MergedAxes& axes, std::int64_t bytes) {
  if (!repeats(axes) && axes.rank > 1 && axes.inner_extent() * bytes < kLineBytes && !has_pitched_rows(axes))
    return true;
  const std::int64_t step = std::abs(axes.inner_stride());
  if (step * bytes < kLineBytes) return !repeats(axes) && axes.inner_stride() != 1;
  return neighbours(axes) >= kLeastRun;
}

bool is_output_packed(const MergedAxes& axes, std::int64_t bytes) {
  const bool short_rows = axes.rank > 1 && axes.inner_extent() < kLeastRun && !has_pitched_rows(axes);
  return short_rows || (axes.inner_stride() != 1 && is_packed(axes, bytes));
}

}  // namespace relayout::native
