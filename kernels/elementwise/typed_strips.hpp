// The element-wise kernel for one operation on tensors of types that an instance knows, which lie in no
// vectors: what elementwise_typed.hpp computes, on strips. A strip has as many elements as 16 bytes have of
// the largest type, twice as many where that has 4 bytes or more; half of them where lanes are few and each
// element takes long (host/plan/elementwise/elementwise_kernel.cpp).
#pragma once

#include "kernels/elementwise/elementwise_typed.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Starts the loads of an operand, or fills in a constant of its type.
template <class S, Steps kSteps, int kElements, int kTensors>
__device__ __forceinline__ void start_operand(const ElementwiseParams& p, int operand,
                                              const StripPlace<kElements, kTensors>& place,
                                              StripLoad<kElements>& load) {
  if (p.tensor[operand].access == Access::constant)
    return load.fill(element_of<BitsOf<S>>(constant_words<S>(p.argument[operand].bits()), 0));
  if (kSteps != Steps::cheap && !place.strip.is_whole()) load.fill(bits_of_one<S>());
  place.template start<BitsOf<S>>(p, operand, load);
}

/// Blocks of a multiprocessor for which there are registers enough.
template <class A, class R, Steps kSteps>
constexpr int typed_strip_blocks() {
  switch (kSteps) {
    case Steps::function:
      return sizeof(A) == 8 ? 4 : 6;
    case Steps::costly:
      return sizeof(A) == 8 || std::is_same_v<A, float> ? 4 : sizeof(A) == 1 ? 5 : 6;
    default:
      return sizeof(A) == 1 ? 4 : sizeof(A) == 8 ? 5 : kIsHalf<A> && kIsHalf<R> ? 8 : 6;
  }
}

template <class A, class B, class R, class C, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    kStripThreads, (typed_strip_blocks<A, R, kSteps>())) void typed_strips_kernel(const ElementwiseParams p) {
  constexpr int kWidth = TypedElementwise<A, B, R, C, OperandRows::strips>::kWidth;
  constexpr int kElements = strip_elements(kWidth), kVectors = kElements / kWidth;
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const StripPlace<kElements, 2> place(p, lane);
  if (!place.strip.is_there) return;
  StripLoad<kElements> a_load, b_load;
  start_operand<A, kSteps>(p, 0, place, a_load);
  start_operand<B, kSteps>(p, 1, place, b_load);
  Words a[kVectors], b[kVectors], results[kVectors];
  a_load.template finish<BitsOf<A>>(a);
  b_load.template finish<BitsOf<B>>(b);
  compute_words<A, B, R, C, kSteps, kWidth>(p, a, b, results, p.strips.count);
  place.template store<BitsOf<R>>(p, results);
}

}  // namespace relayout::RELAYOUT_BACKEND
