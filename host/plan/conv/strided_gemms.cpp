#include "host/plan/conv/strided_gemms.hpp"

#include <algorithm>
#include <numeric>

#include "host/plan/checked_math.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kLargestElement = 8;  // bytes

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return value / by + (value % by != 0); }

/// The matrices of one sequence of group 0: matrix t has the rows t, t + step, ...
class Sequence {
 public:
  Sequence(const ViewShape& shape, std::int64_t samples, std::int64_t step)
      : shape_(shape), samples_(samples), step_(step) {}

  std::int64_t matrices() const { return std::min(step_, shape_.positions); }

  StridedGemm matrix(std::int64_t t) const {
    const std::int64_t first = t * shape_.stride;  // sample of the first row
    const std::int64_t row = first % shape_.dilation * samples_ + first / shape_.dilation;
    StridedGemm gemm;
    gemm.m = divided_up(shape_.positions - t, step_);
    gemm.a = row * shape_.channels;
    gemm.y = t * shape_.out_channels;
    return gemm;
  }

  /// Matrices that follow each other at equal distances are one GEMM.
  std::vector<StridedGemm> joined() const {
    std::vector<StridedGemm> gemms;
    for (std::int64_t t = 0; t < matrices(); ++t) {
      const StridedGemm next = matrix(t);
      if (gemms.empty() || !join(gemms.back(), next)) gemms.push_back(next);
    }
    return gemms;
  }

 private:
  static bool join(StridedGemm& gemm, const StridedGemm& next) {
    const std::int64_t a_step = next.a - (gemm.a + (gemm.count - 1) * gemm.a_step);
    if (next.m != gemm.m || a_step < 0 || (gemm.count > 1 && a_step != gemm.a_step)) return false;
    gemm.a_step = a_step;
    gemm.y_step = next.y - (gemm.y + (gemm.count - 1) * gemm.y_step);
    ++gemm.count;
    return true;
  }

  const ViewShape& shape_;
  std::int64_t samples_, step_;
};

}  // namespace

ViewPlan plan_view(const ViewShape& s, bool rows_may_overlap) {
  ViewPlan plan;
  plan.samples = divided_up(s.padded, s.dilation);
  plan.depth = s.taps * s.channels;
  plan.signal_elements = checked_product({s.groups, s.batch, s.dilation, plan.samples, s.channels},
                                         "conv1d: the number of the padded signal's elements");
  checked_product({plan.signal_elements, kLargestElement}, "conv1d: the padded signal's bytes");
  const std::int64_t common = std::gcd(s.stride, s.dilation);
  const std::int64_t advance = s.stride / common;  // samples of one residue from a row to the next
  const std::int64_t apart = rows_may_overlap ? 1 : divided_up(s.taps, advance);
  const std::int64_t step =
      checked_product({apart, s.dilation / common}, "conv1d: the distance of a matrix's rows");
  // A pitch that no row uses may be too large to multiply.
  const bool single_rows = step >= s.positions;
  plan.a_pitch = single_rows ? plan.depth
                             : checked_product({apart, advance, s.channels}, "conv1d: the pitch of A's rows");
  plan.y_pitch = single_rows ? s.out_channels : step * s.out_channels;
  if (s.batch == 0 || s.positions == 0 || s.out_channels == 0) return plan;

  const Sequence sequence(s, plan.samples, step);
  const std::int64_t a_sequence = s.dilation * plan.samples * s.channels,
                     y_sequence = s.positions * s.out_channels;
  std::vector<StridedGemm> gemms = sequence.joined();
  const std::int64_t joined = static_cast<std::int64_t>(gemms.size());
  if (sequence.matrices() <= joined * s.batch) {
    gemms.clear();
    for (std::int64_t t = 0; t < sequence.matrices(); ++t) {
      gemms.push_back(sequence.matrix(t));
      gemms.back().count = s.batch;
      gemms.back().a_step = a_sequence;
      gemms.back().y_step = y_sequence;
    }
  } else {
    for (std::int64_t b = 1; b < s.batch; ++b) {
      for (std::int64_t i = 0; i < joined; ++i) {
        StridedGemm gemm = gemms[static_cast<std::size_t>(i)];
        gemm.a += b * a_sequence;
        gemm.y += b * y_sequence;
        gemms.push_back(gemm);
      }
    }
  }
  for (std::int64_t g = 0; g < s.groups; ++g) {
    for (StridedGemm gemm : gemms) {
      gemm.group = g;
      gemm.a += g * s.batch * a_sequence;
      gemm.y += g * (s.out_channels / s.groups);
      plan.gemms.push_back(gemm);
    }
  }
  return plan;
}

}  // namespace relayout::plan
