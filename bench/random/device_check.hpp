// A result on the device against a slower way to it on the same device: every element is compared, and no
// tensor is copied to the host.
//
// permute, slice, cast, pad and img2col: the kernel that takes every copy, with offsets of 64 bits (pad and
// img2col as copies of views of the padded signal). binary, unary, quantized and depthwise: the same call on
// operands that this kernel has laid out with a gap after each element, which no fast path takes.
#pragma once

#include <string>
#include <vector>

#include "bench/random/problem.hpp"

namespace relayout::bench::random {

class DeviceCheck {
 public:
  explicit DeviceCheck(const Stream& stream) : stream_(stream) {}

  /// Empty where the result is right, else what is wrong. Results of functions that docs/operations.md gives
  /// a bound in ulps for may differ by twice as much and some more; codes by one, and so may sums of many
  /// taps in 16 bits, whose order depends on the kernel.
  std::string check(const Problem& problem, const std::vector<TensorView>& inputs, const TensorView& out);

 private:
  enum class Equal { bits, nearly, sums, codes };
  enum Slot { kFlags, kResult, kFirstOperand };

  void* room(int slot, std::int64_t bytes);
  TensorView contiguous(int slot, DType type, const Dims& shape);
  TensorView with_gaps(int slot, DType type, const Dims& shape);
  TensorView padded_signal(const Problem& problem, const TensorView& in);
  TensorView expected(const Problem& problem, const std::vector<TensorView>& inputs);
  TensorView expected_window(const Problem& problem, const TensorView& in);
  bool differ(const TensorView& a, const TensorView& b, Equal equal);
  bool any_flag(std::int64_t flags);

  Stream stream_;
  std::vector<Buffer> memory_;  // by slot, as large as a problem has needed
};

}  // namespace relayout::bench::random
