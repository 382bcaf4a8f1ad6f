// Element-wise operations on operands that are fastest along another axis than the output.
#pragma once

#include "host/native/copy_box.hpp"
#include "kernels/elementwise_params.hpp"

namespace relayout::native {

/// The operation, in the output's order (elementwise.cpp).
void elementwise_pieces(const ElementwiseParams& params);

/// Cuts the nest into boxes that stay in the second-level cache, in which both sides have long runs, and
/// turns such operands' parts of a box before it is computed: each of their lines is read once, not once for
/// each of its elements.
class TurnedOperands {
 public:
  explicit TurnedOperands(const ElementwiseParams& params);

  /// Whether there are any, and boxes large enough to pay.
  bool any() const { return any_; }
  void run() const;

 private:
  static constexpr std::int64_t kBoxBytes = 65536;
  struct Buffers {
    alignas(64) char parts[kMostTensors][kBoxBytes];
  };

  bool is_turned(const TensorOperand& tensor) const;
  void compute(const std::int64_t* first, Buffers& buffers) const;
  void turn(TensorOperand& part, const ElementwiseParams& box, char* buffer) const;

  const ElementwiseParams& p_;
  CopyBox box_;
  bool any_ = false, turned_[kMostTensors] = {};
};

}  // namespace relayout::native
