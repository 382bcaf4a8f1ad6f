// The element-wise kernel for one operation in f32 on tensors of any types that lie in no vectors: what
// elementwise_mixed.hpp computes, on strips, which have as many elements as those of typed_strips.hpp.
#pragma once

#include "kernels/elementwise/elementwise_mixed.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class R, int kWidth, int kTensors>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, 4) void mixed_strips_kernel(const ElementwiseParams p) {
  constexpr int kElements = strip_elements(kWidth), kVectors = kElements / kWidth;
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const StripPlace<kElements, kTensors> place(p, lane);
  if (!place.strip.is_there) return;
  StripLoad<kElements> loads[kTensors];
  Words inputs[kTensors][kVectors] = {}, results[kVectors];
  // Type by type, each once for all of a lane's elements.
  const auto each_tensor = [&](auto&& visit) {
#pragma unroll
    for (int t = 0; t < kTensors; ++t) {
      if (t < p.tensors)
        visit_fitting_sizes<kWidth>(p.tensor[t].bytes,
                                    [&](auto tag) { visit(t, typename decltype(tag)::type{}); });
    }
  };
  each_tensor([&](int t, auto bits) { place.template start<decltype(bits)>(p, t, loads[t]); });
  each_tensor([&](int t, auto bits) { loads[t].template finish<decltype(bits)>(inputs[t]); });
  compute_mixed<R, kWidth>(p, inputs, results);
  place.template store<BitsOf<R>>(p, results);
}

inline void launch_mixed_strips_of(const LaunchContext& context, const ElementwiseParams& p) {
  visit_mixed(p, [&](auto result, auto width, auto tensors) {
    launch_strips(context, p, name_of(p.step[0].operation),
                  mixed_strips_kernel<decltype(result), decltype(width)::value, decltype(tensors)::value>);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
