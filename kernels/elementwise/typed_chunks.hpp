// The element-wise kernel for one operation on tensors of types that an instance knows, in long rows from any
// address or with a stride: what elementwise_typed.hpp computes, element by element.
#pragma once

#include "kernels/elementwise/elementwise_typed.hpp"
#include "kernels/elementwise/row_chunks.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// What stands for elements that a lane does not have.
template <class S, Steps kSteps>
__device__ __forceinline__ BitsOf<S> missing_element() {
  return kSteps != Steps::cheap ? bits_of_one<S>() : BitsOf<S>{0};
}

/// Repeats a constant of the operand's type, where there is no tensor.
template <class S, int kVectors>
__device__ __forceinline__ bool fill_constant(const ElementwiseParams& p, int operand,
                                              Words (&words)[kVectors]) {
  if (p.tensor[operand].access != Access::constant) return false;
#pragma unroll
  for (Words& vector : words) vector = constant_words<S>(p.argument[operand].bits());
  return true;
}

/// An operand's elements on their way from memory.
template <class S, Steps kSteps, int kElements>
struct ChunkLoad {
  BitsOf<S> elements[kElements], repeated = missing_element<S, kSteps>();

  __device__ __forceinline__ void start(const ElementwiseParams& p, int operand,
                                        const RowChunk<kElements>& chunk) {
#pragma unroll
    for (BitsOf<S>& element : elements) element = missing_element<S, kSteps>();
    if (p.tensor[operand].access != Access::constant) start_chunk(p, operand, chunk, elements, repeated);
  }

  template <int kVectors>
  __device__ __forceinline__ void finish(const ElementwiseParams& p, int operand,
                                         Words (&words)[kVectors]) const {
    if (fill_constant<S>(p, operand, words)) return;
    if (p.tensor[operand].access == Access::repeated) return repeat_element(repeated, words);
    pack_elements(elements, words);
  }
};

/// Loads both operands. Elements of 2 and 8 bytes are all on their way before the first is waited for, as it
/// would be when they are packed, or moved to other registers. Those of 4 bytes stay where they are, so that
/// nothing waits; of bytes a lane has more than there are registers for.
template <class A, class B, Steps kSteps, int kWidth, int kVectors>
__device__ __forceinline__ void load_operands(const ElementwiseParams& p,
                                              const RowChunk<kWidth * kVectors>& chunk, Words (&a)[kVectors],
                                              Words (&b)[kVectors]) {
  if constexpr (sizeof(A) == 1 || (sizeof(A) == 4 && sizeof(B) == 4)) {
    if (!fill_constant<A>(p, 0, a))
      load_chunk<BitsOf<A>, kWidth>(p, 0, chunk, a, missing_element<A, kSteps>());
    if (!fill_constant<B>(p, 1, b))
      load_chunk<BitsOf<B>, kWidth>(p, 1, chunk, b, missing_element<B, kSteps>());
  } else {
    ChunkLoad<A, kSteps, kWidth * kVectors> first;
    ChunkLoad<B, kSteps, kWidth * kVectors> second;
    first.start(p, 0, chunk);
    second.start(p, 1, chunk);
    first.finish(p, 0, a);
    second.finish(p, 1, b);
  }
}

/// Blocks of a multiprocessor for which there are registers enough.
template <class A, Steps kSteps>
constexpr int typed_chunk_blocks() {
  if (kSteps == Steps::function) return std::is_same_v<A, double> ? 10 : 12;
  if (kSteps == Steps::costly) return std::is_same_v<A, double> || sizeof(A) == 1 || kIsHalf<A> ? 8 : 10;
  return sizeof(A) == 2 ? 8 : 6;
}

template <class A, class B, class R, class C, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kChunkThreads, (typed_chunk_blocks<A, kSteps>())) void typed_chunks_kernel(
    const ElementwiseParams p) {
  constexpr int kWidth = TypedElementwise<A, B, R, C, OperandRows::chunks>::kWidth;
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const RowChunk<kWidth * kChunkVectors> chunk(p, table);
  Words a[kChunkVectors], b[kChunkVectors], results[kChunkVectors];
  load_operands<A, B, kSteps, kWidth>(p, chunk, a, b);
  compute_words<A, B, R, C, kSteps, kWidth>(p, a, b, results);
  store_chunk<BitsOf<R>, kWidth>(p, chunk, results);
}

}  // namespace relayout::RELAYOUT_BACKEND
