// The convolution as GEMMs on the padded signal itself, without A: a row of A is a stretch of channels-last
// samples, so A is a view of that signal.
#pragma once

#include <cstdint>
#include <vector>

namespace relayout::plan {

struct ViewShape {
  std::int64_t batch = 1, groups = 1;
  std::int64_t channels = 1;  // of one group
  std::int64_t padded = 1;    // samples of the padded signal
  std::int64_t taps = 1, stride = 1, dilation = 1;
  std::int64_t positions = 1;     // ho
  std::int64_t out_channels = 1;  // of all groups
};

/// count * m rows of one group: row i of matrix c reads `depth` elements from a + c * a_step + i * a_pitch
/// and gives out_channels / groups elements at y + c * y_step + i * y_pitch.
struct StridedGemm {
  std::int64_t group = 0, count = 1, m = 0;
  std::int64_t a = 0, a_step = 0;  // elements of the padded signal
  std::int64_t y = 0, y_step = 0;  // elements of y
};

/// The padded signal lies as [groups, batch, dilation, samples, channels]: sample i is number i / dilation
/// among those of the same residue i % dilation. So the samples under a window's taps follow each other, and
/// a row of depth = taps * channels elements needs no A. Every residue has samples for the whole of
/// `samples`.
struct ViewPlan {
  std::int64_t samples = 0;
  std::int64_t signal_elements = 0;
  std::int64_t depth = 0;
  std::int64_t a_pitch = 0, y_pitch = 0;  // of every GEMM
  std::vector<StridedGemm> gemms;
};

/// Output positions t, t + P, t + 2P, ... of one sequence form one matrix. P is a multiple of dilation /
/// gcd(stride, dilation), so that all its rows begin in the same residue; where rows may not overlap
/// (a_pitch >= depth, as vendors' libraries ask) P is also so large that they do not: with stride 1 and
/// dilation 1 there are as many matrices as taps, each with every taps-th row. Each y is written once.
/// Matrices of equal size and equal distance are put into one batched GEMM: over the sequences or over t,
/// whichever needs fewer. Error{invalid_shape} when a size does not fit 63 bits.
ViewPlan plan_view(const ViewShape& shape, bool rows_may_overlap);

}  // namespace relayout::plan
