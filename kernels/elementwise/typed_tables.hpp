// The element-wise kernel for one operation on tensors of types that an instance knows, which lie in no
// vectors: what elementwise_typed.hpp computes, on elements that lie where offset tables say. A lane makes as
// many rows of a position as 16 bytes have elements.
#pragma once

#include "kernels/elementwise/elementwise_typed.hpp"
#include "kernels/elementwise/offset_tables.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// An operand, or a constant of its type.
template <class S, int kRows>
__device__ __forceinline__ Words load_operand(const ElementwiseParams& p, int operand,
                                              const TablePlace& place) {
  if (p.tensor[operand].access == Access::constant) return constant_words<S>(p.argument[operand].bits());
  return place.load<BitsOf<S>, kRows>(p, operand);
}

/// Blocks of a multiprocessor for which there are registers enough. More blocks rather than more elements of
/// a lane: 16 bytes of each operand in five blocks take 0.8 to 0.9 of the time of 32 bytes in three on an
/// H200.
template <class A, Steps kSteps>
constexpr int kTypedTableBlocks = kSteps == Steps::costly || sizeof(A) == 1 ? 4 : 5;

template <class A, class B, class R, class C, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    kElementwiseThreads, (kTypedTableBlocks<A, kSteps>)) void typed_tables_kernel(const ElementwiseParams p) {
  constexpr int kRows = TypedElementwise<A, B, R, C, OperandRows::tables>::kWidth;
  RELAYOUT_DYNAMIC_SHARED(Words, memory);
  visit_block<kRows>(p, reinterpret_cast<std::uint32_t*>(memory), [&](const TablePlace& place) {
    const Words a[1] = {load_operand<A, kRows>(p, 0, place)}, b[1] = {load_operand<B, kRows>(p, 1, place)};
    Words results[1];
    compute_words<A, B, R, C, kSteps, kRows>(p, a, b, results);
    place.store<BitsOf<R>, kRows>(p, results[0]);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
