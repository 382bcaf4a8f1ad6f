// The element-wise kernel for chains, and for operations of many instructions, on up to three tensors of one
// type, aligned or repeated along the rows: bias and activation, scale, shift and clip.
#pragma once

#include "kernels/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T, class C>
struct ElementwiseChain {
  static constexpr int kWidth = 16 / static_cast<int>(sizeof(T)), kVectors = 16 / kWidth;
  static constexpr std::int64_t kPerBlock = std::int64_t{kElementwiseThreads} * kVectors;
};

template <class T, class C, int kVectors, int kCount>
__device__ __forceinline__ void fetch_typed(const Words (&inputs)[kMostTensors][kVectors],
                                            const Argument& argument, C (&numbers)[kCount]) {
  constexpr int kWidth = kCount / kVectors;
  switch (argument.tensor) {
    case 0:
      return read_values<kWidth>(dtype_of<T>, false, inputs[0], numbers);
    case 1:
      return read_values<kWidth>(dtype_of<T>, false, inputs[1], numbers);
    case 2:
      return read_values<kWidth>(dtype_of<T>, false, inputs[2], numbers);
    default:
      break;
  }
  const C constant = constant_of<C>(argument.bits);
#pragma unroll
  for (int i = 0; i < kCount; ++i) numbers[i] = constant;
}

template <class T, class C, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 2) void chain_kernel(const ElementwiseParams p) {
  constexpr int kWidth = ElementwiseChain<T, C>::kWidth, kVectors = ElementwiseChain<T, C>::kVectors;
  constexpr int kCount = kWidth * kVectors;
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x * ElementwiseChain<T, C>::kPerBlock);
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const BlockRows block_rows(p, block, table);
  VectorLoad<true, kWidth> loads[kMostTensors][kVectors] = {};
  TypedPlace places[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    RowOffsets rows;
    places[v] = typed_place<T, kWidth>(p, block_rows, block + threadIdx.x + v * kElementwiseThreads, rows);
    if (places[v].is_empty()) continue;
    if (p.tensors > 0) start_typed<T>(loads[0][v], p.tensor[0], rows.tensors[0], places[v]);
    if (p.tensors > 1) start_typed<T>(loads[1][v], p.tensor[1], rows.tensors[1], places[v]);
    if (p.tensors > 2) start_typed<T>(loads[2][v], p.tensor[2], rows.tensors[2], places[v]);
  }
  Words inputs[kMostTensors][kVectors], results[kVectors];
#pragma unroll
  for (int t = 0; t < kMostTensors; ++t) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) inputs[t][v] = loads[t][v].words();
  }
  C a[kCount], b[kCount] = {}, c[kCount] = {};
  fetch_typed<T>(inputs, p.argument[0], a);
  int next = 1;
#pragma unroll 1
  for (int s = 0; s < p.steps; ++s) {
    const int operands = p.step[s].operands;
    if (operands >= 2) fetch_typed<T>(inputs, p.argument[next++], b);
    if (operands == 3) fetch_typed<T>(inputs, p.argument[next++], c);
    apply<kSteps>(p, p.step[s].operation, a, b, c);
    if (s + 1 < p.steps) narrow(p, a);
  }
  write_numbers<kWidth>(dtype_of<T>, sizeof(T), a, results);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) store_typed<T, kWidth>(p, places[v], results[v]);
}

template <class T, class C, Steps kSteps>
void launch_chain_of(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr std::int64_t kPerBlock = ElementwiseChain<T, C>::kPerBlock;
  LaunchShape shape;
  shape.blocks_x = (p.vectors + kPerBlock - 1) / kPerBlock;
  shape.threads_x = kElementwiseThreads;
  const ElementwiseParams placed = with_block_rows(p, kPerBlock);
  shape.shared_bytes = static_cast<std::size_t>(placed.block_rows) * sizeof(RowOffsets);
  launch(name_of(p.step[p.steps - 1].operation), context, shape, chain_kernel<T, C, kSteps>, placed);
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
