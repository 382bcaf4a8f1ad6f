// From a problem to calls of the library.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/random/memory.hpp"
#include "bench/random/problem.hpp"

namespace relayout::bench::random {

/// The problem on any memory: the views have the shapes of the problem's tensors, and any strides. Errors:
/// those of the library's function.
void run(const Stream& stream, const Problem& problem, const std::vector<TensorView>& inputs,
         const TensorView& out);

struct Operands {
  std::vector<TensorView> inputs;
  TensorView out;
};

struct Ready {
  /// Call i of a series is calls[i % calls.size()], on sets[i]: operands of its own, all in the same layout.
  std::vector<std::function<void()>> calls;
  std::vector<Operands> sets;
  std::string kernel;            // that the plan chose; empty where plans of the family do not say
  double predicted_seconds = 0;  // 0 where plans of the family predict none
};

Ready prepare(const Stream& stream, const Problem& problem, Memory& memory);

/// The window and the padding of img2col and pad.
Window window_of(const Problem& problem);
PadSpec pad_of(const Problem& problem);
/// The bias and the activation of depthwise; no bias is a default view.
TensorView bias_of(const std::vector<TensorView>& inputs);
Activation activation_of(const Problem& problem);
/// The operand or output number i of a quantized problem, whose codes are `codes`.
QuantizedTensor quantized_tensor(const Problem& problem, std::size_t i, const TensorView& codes,
                                 const std::vector<TensorView>& inputs);
/// Operands of the problem that are no scales.
std::size_t operands_of(const Problem& problem);

}  // namespace relayout::bench::random
