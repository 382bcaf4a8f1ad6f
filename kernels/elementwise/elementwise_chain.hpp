// The element-wise kernel for chains, and for operations of many instructions, on up to three tensors of one
// type, aligned or repeated along the rows: bias and activation, scale, shift and clip.
#pragma once

#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// kTensors is the number of the chain's tensors or a little more; tensors that are not there take registers,
/// too.
template <class T, Steps kSteps, int kTensors>
struct ElementwiseChain {
  static constexpr bool kExact = kSteps != Steps::costly;  // instances for each number of tensors
  static constexpr int kWidth = 16 / static_cast<int>(sizeof(T));
  /// How many vectors are computed together: those with 8 numbers, since functions take many registers for
  /// each. kVectors is how many a lane has.
  static constexpr int kTogether = 8 / kWidth;
  static constexpr int kVectors = kSteps == Steps::cheap || (kExact && kTensors < 3) ? 2 : kTogether;
  static constexpr int kBlocks = kSteps == Steps::costly ? 2 : 3;  // at least, on a multiprocessor
  static constexpr std::int64_t kPerBlock = std::int64_t{kElementwiseThreads} * kVectors;

  using Vectors = Words[kVectors];
  using Loads = VectorLoad<true, kWidth>[kVectors];
};

/// The vectors of an argument: those of a tensor, or a repeated constant.
template <class T, class Loads, int kTensors, int kVectors>
__device__ __forceinline__ void fetch_words(const ElementwiseParams& p, const Loads (&loads)[kTensors],
                                            const Argument& argument, Words (&words)[kVectors]) {
  if (argument.tensor == 0) return finish_loads<T>(p.tensor[0], loads[0], words);
  if constexpr (kTensors > 1) {
    if (argument.tensor == 1) return finish_loads<T>(p.tensor[1], loads[1], words);
  }
  if constexpr (kTensors > 2) {
    if (argument.tensor == 2) return finish_loads<T>(p.tensor[2], loads[2], words);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) words[v] = constant_words<T>(argument.bits());
}

template <class T, class C, Steps kSteps, int kTogether>
__device__ __forceinline__ void step_on_numbers(const ElementwiseParams& p, const ProgramStep& step,
                                                Words (&a)[kTogether], const Words (&b)[kTogether],
                                                const Words (&c)[kTogether]) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(T)), kCount = kWidth * kTogether;
  C x[kCount] = {}, y[kCount] = {}, z[kCount] = {};
  read_values<kWidth>(dtype_of<T>, false, a, x);
  if (step.operands >= 2) read_values<kWidth>(dtype_of<T>, false, b, y);
  if (step.operands == 3) read_values<kWidth>(dtype_of<T>, false, c, z);
  apply<kSteps>(p, step.operation, x, y, z);
  write_numbers<kWidth>(dtype_of<T>, sizeof(T), x, a);
}

/// Takes one step: `a` becomes its result, rounded to T.
template <class T, class C, Steps kSteps, int kTogether, int kVectors>
__device__ __forceinline__ void take_step(const ElementwiseParams& p, const ProgramStep& step,
                                          Words (&a)[kVectors], const Words (&b)[kVectors],
                                          const Words (&c)[kVectors]) {
  if constexpr (kPacked<T>) {
    if (half_operation<T>(step.operation, a, b, c)) return;
  }
#pragma unroll
  for (int first = 0; first < kVectors; first += kTogether) {
    Words x[kTogether], y[kTogether], z[kTogether];
#pragma unroll
    for (int v = 0; v < kTogether; ++v) {
      x[v] = a[first + v];
      y[v] = b[first + v];
      z[v] = c[first + v];
    }
    step_on_numbers<T, C, kSteps>(p, step, x, y, z);
#pragma unroll
    for (int v = 0; v < kTogether; ++v) a[first + v] = x[v];
  }
}

template <class T, class C, Steps kSteps, int kTensors>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    kElementwiseThreads,
    (ElementwiseChain<T, kSteps, kTensors>::kBlocks)) void chain_kernel(const ElementwiseParams p) {
  using Chain = ElementwiseChain<T, kSteps, kTensors>;
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x * Chain::kPerBlock);
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const BlockRows block_rows(p, block, table);
  const LaneVectors<T, Chain::kWidth, Chain::kVectors> lane(p, block_rows, block + threadIdx.x);
  typename Chain::Loads loads[kTensors] = {};
#pragma unroll
  for (int t = 0; t < kTensors; ++t) {
    if ((Chain::kExact || t < p.tensors) && !start_vectors<T>(p, t, lane, loads[t]))
      load_elements<T>(p, t, lane, loads[t]);
  }
  typename Chain::Vectors a, b = {}, c = {};
  fetch_words<T>(p, loads, p.argument[0], a);
  int next = 1;
#pragma unroll 1
  for (int s = 0; s < p.steps; ++s) {
    const ProgramStep& step = p.step[s];
    if (step.operands >= 2) fetch_words<T>(p, loads, p.argument[next++], b);
    if (step.operands == 3) fetch_words<T>(p, loads, p.argument[next++], c);
    take_step<T, C, kSteps, Chain::kTogether>(p, step, a, b, c);
  }
  store_vectors(p, lane, a);
}

template <class T, class C, Steps kSteps, int kTensors>
void launch_chain_on(const LaunchContext& context, const ElementwiseParams& p) {
  launch_block_rows(name_of(p.step[p.steps - 1].operation), context, p,
                    ElementwiseChain<T, kSteps, kTensors>::kPerBlock, kElementwiseThreads,
                    chain_kernel<T, C, kSteps, kTensors>);
}

template <class T, class C, Steps kSteps>
void launch_chain_of(const LaunchContext& context, const ElementwiseParams& p) {
  if constexpr (ElementwiseChain<T, kSteps, kMaxTypedTensors>::kExact) {
    if (p.tensors == 1) return launch_chain_on<T, C, kSteps, 1>(context, p);
    if (p.tensors == 2) return launch_chain_on<T, C, kSteps, 2>(context, p);
  }
  launch_chain_on<T, C, kSteps, kMaxTypedTensors>(context, p);
}

template <Steps kSteps>
void launch_chain(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.common) {
    case DType::f16:
      return launch_chain_of<f16, float, kSteps>(context, p);
    case DType::bf16:
      return launch_chain_of<bf16, float, kSteps>(context, p);
    default:
      return launch_chain_of<float, float, kSteps>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
