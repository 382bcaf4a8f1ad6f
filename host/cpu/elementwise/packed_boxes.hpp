// Element-wise operations on operands, or into an output, whose rows are strided, short, or run along another
// axis than those of the nest.
#pragma once

#include <cstdint>
#include <vector>

#include "core/elementwise_params.hpp"
#include "host/cpu/copy/copy_box.hpp"

namespace relayout::native {

/// The operation, in the nest's order (elementwise.cpp).
void elementwise_pieces(const ElementwiseParams& params);

/// Cuts the nest into boxes that stay in the second-level cache, in which all sides have long runs. The
/// native copy packs such operands' parts of a box before it is computed, and unpacks the results to such an
/// output: each of their lines is touched once, not once for each of its elements, and a short row costs a
/// look-up or less.
class PackedBoxes {
 public:
  explicit PackedBoxes(const ElementwiseParams& params);

  /// Whether anything is packed, and boxes are large enough to pay.
  bool any() const { return any_; }
  void run() const;

 private:
  static constexpr std::int64_t kBoxBytes = 65536;

  /// A packed operand that is fastest along another axis than the output and the dearest operand, whose nest
  /// with the output this is; null: there is none.
  const TensorOperand* operand_across(const CopyParams& nest, const TensorOperand* dearest) const;
  void compute(const std::int64_t* first, std::vector<char>& buffers) const;
  static void pack(TensorOperand& part, const ElementwiseParams& box, char* buffer);

  const ElementwiseParams& p_;
  CopyBox box_;
  std::int64_t part_bytes_ = 0;  // of a box, in the buffers
  bool any_ = false, packed_[kMaxTensors] = {}, output_packed_ = false;
};

}  // namespace relayout::native
