#include "verify.hpp"

#include <algorithm>
#include <bitset>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <thread>

#include "host/reference/compare.hpp"
#include "host/reference/img2col.hpp"
#include "host/reference/permute.hpp"

namespace example {
namespace {

using relayout::DType;
using relayout::TensorView;
namespace reference = relayout::reference;

constexpr double kMaxGatheredElements = 67108864.0;

Halves zeros(std::int64_t elements) { return Halves(static_cast<std::size_t>(elements)); }

std::int64_t count_errors(const Halves& got, const Halves& expected, DType dtype) {
  if (std::memcmp(got.data(), expected.data(), got.size() * sizeof(std::uint16_t)) == 0) return 0;
  const relayout::Dims shape = {static_cast<std::int64_t>(got.size())};
  return reference::count_mismatches(TensorView(got.data(), dtype, shape),
                                     TensorView(expected.data(), dtype, shape));
}

/// The reference is slow: one thread for each sequence.
template <class Work>
void for_each_in_parallel(std::int64_t count, const Work& work) {
  const std::int64_t workers =
      std::min<std::int64_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (std::int64_t w = 0; w < workers; ++w) {
    threads.emplace_back([=, &work] {
      for (std::int64_t i = w; i < count; i += workers) work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Collects the elements of one result for the gates, and the figures that tell whether the statistical gates
/// mean anything.
class ResultCheck {
 public:
  ResultCheck(DType dtype, std::int64_t depth, bool with_bias)
      : dtype_(dtype), depth_(depth), gates_(dtype, depth, with_bias) {}

  void add(std::uint16_t y, const reference::GemmElement& element) {
    // Sums that fp32 cannot hold may overflow on the way, whatever the final value is.
    if (element.magnitude > FLT_MAX && std::isfinite(element.sum)) return;
    gates_.add(
        dtype_ == DType::f16 ? relayout::to_float(relayout::f16{y}) : relayout::to_float(relayout::bf16{y}),
        element);
    if (!std::isfinite(element.sum)) return;
    distinct_.set(dtype_ == DType::f16 ? relayout::to_f16(element.sum).bits
                                       : relayout::to_bf16(element.sum).bits);
    results_ += element.sum * element.sum;
    magnitudes_ += element.magnitude * element.magnitude;
  }

  void finish(GemmReport& report) const {
    report.gates = gates_.check();
    // N(0, 1) data have RMS(r) of about 1.6 / sqrt(K) of RMS(S); far below it the sums cancel and the errors
    // of fp32 sums, which are relative to S, show in r.
    const double depth = static_cast<double>(std::max<std::int64_t>(depth_, 1));
    if (distinct_.count() < 64) {
      report.statistics_skipped = "fewer than 64 distinct results";
    } else if (results_ * depth * 256 < magnitudes_) {
      report.statistics_skipped = "the sums cancel";
    }
  }

 private:
  DType dtype_;
  std::int64_t depth_;
  reference::GemmGates gates_;
  std::bitset<65536> distinct_;
  double results_ = 0, magnitudes_ = 0;
};

}  // namespace

bool GemmReport::ok() const {
  return gates.bound_ok() && (!statistics_skipped.empty() || (gates.rms_ok() && gates.share_ok()));
}

Verifier::Verifier(const Job& job, const Data& data, double most_multiplications)
    : problem_(job.problem),
      sizes_(job.sizes),
      bias_(data.bias.view),
      most_multiplications_(most_multiplications),
      operand_(zeros(job.sizes.operand_elements)),
      weights_(zeros(job.sizes.weight_elements)) {
  const DType dtype = problem_.dtype;
  const std::int64_t groups = problem_.window.groups;
  const TensorView& input = data.input.view;
  // Rounding first and moving 16-bit elements then gives the same bits with fewer roundings.
  Halves rounded = zeros(input.elements());
  const TensorView in(rounded.data(), dtype, input.shape());
  const TensorView a(operand_.data(), dtype, {groups, sizes_.rows, sizes_.depth});
  for_each_in_parallel(problem_.batch, [&](std::int64_t b) {
    const TensorView sequence = in.slice(0, b, b + 1);
    reference::cast(input.slice(0, b, b + 1), sequence);
    const TensorView rows = a.slice(1, b * sizes_.positions, (b + 1) * sizes_.positions);
    reference::img2col(sequence, problem_.window, problem_.pad,
                       groups > 1 ? rows : TensorView(rows.data(), dtype, {rows.extent(1), rows.extent(2)}));
  });
  const TensorView bt(weights_.data(), dtype, {problem_.out_channels, sizes_.depth});
  reference::rearrange_weights(data.weights.view, problem_.window.order, bt);
}

OperandCheck Verifier::check_operands(const Halves& a, const Halves& bt) const {
  return {count_errors(a, operand_, problem_.dtype), sizes_.operand_elements,
          count_errors(bt, weights_, problem_.dtype), sizes_.weight_elements};
}

OperandCheck Verifier::check_weights(const Halves& bt) const {
  Halves expected = weights_;
  const std::int64_t taps = problem_.window.taps;
  if (problem_.window.order == relayout::ColumnOrder::channel_outer && taps > 1) {
    for (std::int64_t i = 0; i < sizes_.weight_elements; ++i) {
      const std::int64_t row = i / sizes_.depth * sizes_.depth, column = i - row;
      const std::int64_t at = row + column % taps * (sizes_.depth / taps) + column / taps;
      expected[static_cast<std::size_t>(at)] = weights_[static_cast<std::size_t>(i)];
    }
  }
  return {0, 0, count_errors(bt, expected, problem_.dtype), sizes_.weight_elements};
}

std::vector<std::int64_t> Verifier::rows_to_check(std::uint64_t seed) const {
  const double of_row = static_cast<double>(problem_.window.groups) * static_cast<double>(sizes_.depth);
  const double most =
      std::min(kMaxGatheredElements / std::max(of_row, 1.0),
               most_multiplications_ / std::max(of_row * static_cast<double>(sizes_.columns), 1.0));
  const std::int64_t count = most >= static_cast<double>(sizes_.rows)
                                 ? sizes_.rows
                                 : std::max<std::int64_t>(1, static_cast<std::int64_t>(most));
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto edge = [&](std::int64_t of) {
      return static_cast<std::int64_t>(static_cast<long double>(sizes_.rows) * static_cast<long double>(of) /
                                       static_cast<long double>(count));
    };
    const std::int64_t begin = edge(i), end = std::max(edge(i + 1), begin + 1);
    rows.push_back(begin + static_cast<std::int64_t>(random_bits(seed, static_cast<std::uint64_t>(i)) %
                                                     static_cast<std::uint64_t>(end - begin)));
  }
  return rows;
}

TensorView Verifier::gather(const std::vector<std::int64_t>& rows, Halves& storage) const {
  const std::int64_t groups = problem_.window.groups, count = static_cast<std::int64_t>(rows.size());
  const std::size_t depth = static_cast<std::size_t>(sizes_.depth);
  storage.reserve(static_cast<std::size_t>(groups * count) * depth);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (const std::int64_t row : rows) {
      const auto begin =
          operand_.begin() + static_cast<std::ptrdiff_t>((g * sizes_.rows + row) * sizes_.depth);
      storage.insert(storage.end(), begin, begin + static_cast<std::ptrdiff_t>(depth));
    }
  }
  return TensorView(storage.data(), problem_.dtype, {groups, count, sizes_.depth});
}

std::vector<GemmReport> Verifier::check_gemm(const std::vector<Halves>& results, std::uint64_t seed) const {
  const bool with_bias = bias_.rank() > 0;
  const std::vector<std::int64_t> rows = rows_to_check(seed);
  Halves storage;
  const TensorView a = gather(rows, storage);
  const TensorView bt(weights_.data(), problem_.dtype,
                      {problem_.window.groups, sizes_.columns, sizes_.depth});
  std::vector<ResultCheck> checks(results.size(), ResultCheck(problem_.dtype, sizes_.depth, with_bias));
  reference::for_each_gemm_element(
      a, bt, bias_, [&](const relayout::Dims& index, const reference::GemmElement& element) {
        const std::int64_t column = index[0] * sizes_.columns + index[2];
        const std::int64_t at = rows[static_cast<std::size_t>(index[1])] * problem_.out_channels + column;
        for (std::size_t r = 0; r < results.size(); ++r)
          checks[r].add(results[r][static_cast<std::size_t>(at)], element);
      });
  std::vector<GemmReport> reports;
  for (const ResultCheck& check : checks) {
    GemmReport report;
    report.m = sizes_.rows;
    report.n = sizes_.columns;
    report.k = report.lda = report.ldb = sizes_.depth;
    report.ldc = problem_.out_channels;
    report.checked_rows = static_cast<std::int64_t>(rows.size());
    check.finish(report);
    reports.push_back(report);
  }
  return reports;
}

}  // namespace example
