// Functors that the suite `elementwise` times beside the library's own operations.
#pragma once

#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::bench {

using FunctorCall = void (*)(const Stream& stream, const std::vector<TensorView>& operands,
                             const TensorView& out);

/// a + b of f32.
void functor_add(const Stream& stream, const std::vector<TensorView>& operands, const TensorView& out);
/// max(x + bias, 0) of f16, rounded once.
void functor_bias_relu(const Stream& stream, const std::vector<TensorView>& operands, const TensorView& out);
/// clip(x * scale + shift, -1, 1) of f16, each step rounded.
void functor_scale_shift_clip(const Stream& stream, const std::vector<TensorView>& operands,
                              const TensorView& out);

}  // namespace relayout::bench
