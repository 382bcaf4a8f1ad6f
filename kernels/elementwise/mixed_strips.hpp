// The element-wise kernel for one operation in f32 on tensors of any types that lie in no vectors: what
// elementwise_mixed.hpp computes, on strips, which have as many elements as those of typed_strips.hpp.
#pragma once

#include "kernels/elementwise/elementwise_mixed.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class R, int kWidth, int kTensors, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, kSteps == Steps::function ? 5 : 4) void mixed_strips_kernel(
    const ElementwiseParams p) {
  constexpr int kElements = strip_elements(kWidth), kVectors = kElements / kWidth;
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const StripPlace<kElements, kTensors> place(p, lane);
  if (!place.strip.is_there) return;
  StripLoad<kElements> loads[kTensors];
  Words inputs[kTensors][kVectors] = {}, results[kVectors];
  each_tensor<kWidth, kTensors>(
      p, [&](int t, auto bits) { place.template start<decltype(bits)>(p, t, loads[t]); });
  each_tensor<kWidth, kTensors>(
      p, [&](int t, auto bits) { loads[t].template finish<decltype(bits)>(inputs[t]); });
  compute_mixed<R, kSteps, kWidth>(p, inputs, results);
  place.template store<BitsOf<R>>(p, results);
}

inline void launch_mixed_strips_of(const LaunchContext& context, const ElementwiseParams& p) {
  visit_mixed(p, [&](auto result, auto width, auto tensors, auto steps) {
    launch_strips(context, p, name_of(p.step[0].operation),
                  mixed_strips_kernel<decltype(result), decltype(width)::value, decltype(tensors)::value,
                                      decltype(steps)::value>);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
