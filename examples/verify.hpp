// The verification: operands bit for bit against the host reference, the GEMM against fp64 sums by three
// gates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <relayout/conv1d.hpp>

#include "data.hpp"
#include "host/reference/gemm.hpp"

namespace example {

/// Elements whose bits differ from the reference's; NaNs count as equal.
struct OperandCheck {
  std::int64_t input_errors = 0, input_total = 0;
  std::int64_t weight_errors = 0, weight_total = 0;
  bool ok() const { return input_errors == 0 && weight_errors == 0; }
};

struct GemmReport {
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  std::int64_t checked_rows = 0;
  relayout::reference::GemmCheck gates;
  std::string statistics_skipped;  // why gates 2 and 3 cannot be judged on these results; empty: they are
  bool ok() const;
};

/// Elements of a 16-bit matrix on the host, contiguous.
using Halves = std::vector<std::uint16_t>;

class Verifier {
 public:
  /// Computes the reference operands. Beyond `most_multiplications` a sample of the GEMM's rows is checked.
  Verifier(const Job& job, const Data& data, double most_multiplications = 2e9);

  OperandCheck check_operands(const Halves& a, const Halves& bt) const;
  /// The check of a path without A, whose bt is tap outer whatever the order of the problem is.
  OperandCheck check_weights(const Halves& bt) const;
  /// One report for each result y [batch * ho, co]. Beyond 2e9 multiplications a sample of the rows is
  /// checked: one row, drawn by the seed, of each of equally long stretches.
  std::vector<GemmReport> check_gemm(const std::vector<Halves>& results, std::uint64_t seed) const;

 private:
  std::vector<std::int64_t> rows_to_check(std::uint64_t seed) const;
  relayout::TensorView gather(const std::vector<std::int64_t>& rows, Halves& storage) const;

  relayout::Conv1d problem_;
  relayout::Conv1dSizes sizes_;
  relayout::TensorView bias_;
  double most_multiplications_;
  Halves operand_, weights_;
};

}  // namespace example
