// Element-wise operations on operands that are fastest along another axis than the output, or whose rows are
// strided or short.
#pragma once

#include <cstdint>
#include <vector>

#include "core/elementwise_params.hpp"
#include "host/cpu/copy/copy_box.hpp"

namespace relayout::native {

/// The operation, in the output's order (elementwise.cpp).
void elementwise_pieces(const ElementwiseParams& params);

/// Cuts the nest into boxes that stay in the second-level cache, in which both sides have long runs, and
/// packs such operands' parts of a box before it is computed, by the native copy: each of their lines is read
/// once, not once for each of its elements, and a short row costs a look-up or less.
class TransposedOperands {
 public:
  explicit TransposedOperands(const ElementwiseParams& params);

  /// Whether there are any, and boxes large enough to pay.
  bool any() const { return any_; }
  void run() const;

 private:
  static constexpr std::int64_t kBoxBytes = 65536;

  bool is_transposed(const TensorOperand& tensor) const;
  void compute(const std::int64_t* first, std::vector<char>& buffers) const;
  void turn(TensorOperand& part, const ElementwiseParams& box, char* buffer) const;

  const ElementwiseParams& p_;
  CopyBox box_;
  std::int64_t part_bytes_ = 0;  // of a box, in the buffers
  bool any_ = false, transposed_[kMaxTensors] = {};
};

}  // namespace relayout::native
