// Compiled for the GPUs that the library was built for, as a user's file is.
#include "bench/functors.hpp"

namespace relayout::bench {

using namespace functors;

void functor_add(const Stream& stream, const std::vector<TensorView>& operands, const TensorView& out) {
  map<float(float, float)>(stream, Add(), operands, out);
}

void functor_bias_relu(const Stream& stream, const std::vector<TensorView>& operands, const TensorView& out) {
  map<f16(f16, f16)>(stream, chain_of(Add(), Relu()), operands, out);
}

void functor_scale_shift_clip(const Stream& stream, const std::vector<TensorView>& operands,
                              const TensorView& out) {
  map<f16(f16, f16, f16)>(stream, chain_of(Multiply(), Rounded<f16>(), Add(), Rounded<f16>(), Clip{-1, 1}),
                          operands, out);
}

}  // namespace relayout::bench
