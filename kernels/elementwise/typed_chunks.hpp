// The element-wise kernel for one operation on tensors of types that an instance knows, in long rows from any
// address or with a stride: what elementwise_typed.hpp computes, element by element.
#pragma once

#include "kernels/elementwise/elementwise_typed.hpp"
#include "kernels/elementwise/row_chunks.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Loads an operand, or repeats a constant of its type.
template <class S, Steps kSteps, int kWidth, int kVectors>
__device__ __forceinline__ void load_operand(const ElementwiseParams& p, int operand,
                                             const RowChunk<kWidth * kVectors>& chunk,
                                             Words (&words)[kVectors]) {
  if (p.tensor[operand].access != Access::constant)
    return load_chunk<BitsOf<S>, kWidth, kVectors>(p, operand, chunk, words,
                                                   kSteps == Steps::costly ? bits_of_one<S>() : 0);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) words[v] = constant_words<S>(p.argument[operand].bits());
}

template <class A, class B, class R, class C, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kChunkThreads, kSteps == Steps::costly ? 8 : 6) void typed_chunks_kernel(
    const ElementwiseParams p) {
  constexpr int kWidth = TypedElementwise<A, B, R, C, OperandRows::chunks>::kWidth;
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const RowChunk<kWidth * kChunkVectors> chunk(p, table);
  Words a[kChunkVectors], b[kChunkVectors], results[kChunkVectors];
  load_operand<A, kSteps, kWidth>(p, 0, chunk, a);
  load_operand<B, kSteps, kWidth>(p, 1, chunk, b);
  compute_words<A, B, R, C, kSteps, kWidth>(p, a, b, results);
  store_chunk<BitsOf<R>, kWidth>(p, chunk, results);
}

}  // namespace relayout::RELAYOUT_BACKEND
