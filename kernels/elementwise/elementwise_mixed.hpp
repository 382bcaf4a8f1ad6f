// The element-wise kernel for one operation in f32 on up to three tensors of any types, to f32 or bool:
// functions of integers, operands of several types, where. A tensor's type is looked at once for all of a
// lane's vectors.
#pragma once

#include "kernels/elementwise/row_chunks.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// kWidth is the number of elements in a vector; those of the widest type, among the operands and the output,
/// fill 16 bytes. kTensors is the most tensors that a launch may have.
template <class R, int kWidth, int kTensors>
struct Mixed {
  static constexpr int kThreads = 128;
  static constexpr int kVectors = 2;
  static constexpr int kNumbers = kWidth * kVectors;
  static constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVectors;
};

/// Loads a tensor's vectors, which are aligned or repeat one element.
template <class R, int kWidth, int kVectors>
__device__ __forceinline__ void load_mixed(const ElementwiseParams& p, int t,
                                           const LaneVectors<R, kWidth, kVectors>& lane,
                                           Words (&words)[kVectors]) {
  const TensorOperand& tensor = p.tensor[t];
  VectorLoad<true, kWidth> loads[kVectors] = {};
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const auto* const row =
        static_cast<const unsigned char*>(tensor.data) + std::int64_t{lane.rows[v].tensors[t]} * tensor.bytes;
    if (lane.first[v] < lane.length) loads[v].start(tensor.access, tensor.bytes, 1, row, lane.span(v));
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) words[v] = loads[v].words();
}

/// Applies the operation to what was loaded.
template <class R, int kWidth, int kTensors, int kVectors>
__device__ __forceinline__ void compute_mixed(const ElementwiseParams& p,
                                              const Words (&inputs)[kTensors][kVectors],
                                              Words (&results)[kVectors]) {
  constexpr int kNumbers = kWidth * kVectors;
  const ProgramStep& step = p.step[0];
  float a[kNumbers], b[kNumbers] = {}, c[kNumbers] = {};
  fetch<kWidth>(p, inputs, p.argument[0], a);
  if (step.operands >= 2) fetch<kWidth>(p, inputs, p.argument[1], b);
  if (step.operands == 3) fetch<kWidth>(p, inputs, p.argument[2], c);
  if constexpr (std::is_same_v<R, bool>) {
    cheap_relation(p, step.operation, a, b);
  } else {
    const auto visit = [&](const auto& f) { in_turn<4>(a, b, f); };
    if (!visit_costly<float>(step.operation, visit)) cheap_value(p, step.operation, a, b, c);
  }
  write_numbers<kWidth>(dtype_of<R>, sizeof(R), a, results);
}

/// The kernel on aligned vectors.
template <class R, int kWidth, int kTensors>
__global__ RELAYOUT_LAUNCH_BOUNDS((Mixed<R, kWidth, kTensors>::kThreads),
                                  6) void mixed_kernel(const ElementwiseParams p) {
  using M = Mixed<R, kWidth, kTensors>;
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x * M::kPerBlock);
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const BlockRows block_rows(p, block, table);
  const LaneVectors<R, kWidth, M::kVectors> lane(p, block_rows, block + threadIdx.x);
  Words inputs[kTensors][M::kVectors] = {}, results[M::kVectors];
#pragma unroll
  for (int t = 0; t < kTensors; ++t) {
    if (t < p.tensors) load_mixed(p, t, lane, inputs[t]);
  }
  compute_mixed<R, kWidth>(p, inputs, results);
  store_vectors(p, lane, results);
}

/// The kernel on rows from any address, or with a stride.
template <class R, int kWidth, int kTensors>
__global__ RELAYOUT_LAUNCH_BOUNDS(kChunkThreads, 6) void mixed_chunks_kernel(const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const RowChunk<kWidth * kChunkVectors> chunk(p, table);
  Words inputs[kTensors][kChunkVectors] = {}, results[kChunkVectors];
#pragma unroll
  for (int t = 0; t < kTensors; ++t) {
    if (t >= p.tensors) continue;
    visit_fitting_sizes<kWidth>(p.tensor[t].bytes, [&](auto tag) {
      load_chunk<typename decltype(tag)::type, kWidth, kChunkVectors>(p, t, chunk, inputs[t]);
    });
  }
  compute_mixed<R, kWidth>(p, inputs, results);
  store_chunk<BitsOf<R>, kWidth>(p, chunk, results);
}

/// With kChunks, the kernel on chunks of rows is launched, otherwise that on aligned vectors.
template <bool kChunks, class R, int kWidth, int kTensors>
void launch_mixed_of(const LaunchContext& context, const ElementwiseParams& p) {
  if constexpr (kChunks) {
    launch_chunks(context, p, mixed_chunks_kernel<R, kWidth, kTensors>);
  } else {
    using M = Mixed<R, kWidth, kTensors>;
    launch_block_rows(name_of(p.step[0].operation), context, p, M::kPerBlock, M::kThreads,
                      mixed_kernel<R, kWidth, kTensors>);
  }
}

/// Calls visit(a value of the result's type, std::integral_constants of a vector's elements and of the
/// tensors).
template <class Visit>
void visit_mixed(const ElementwiseParams& p, const Visit& visit) {
  constexpr std::integral_constant<int, 1> kOne;
  constexpr std::integral_constant<int, 2> kTwo;
  constexpr std::integral_constant<int, 4> kFour;
  if (p.out_type == DType::bool_)
    return p.width == 2 ? visit(bool{}, kTwo, kTwo) : visit(bool{}, kFour, kTwo);
  if (p.width == 2) return visit(float{}, kTwo, kTwo);
  if (p.tensors == 1) return visit(float{}, kFour, kOne);
  if (p.tensors == 2) return visit(float{}, kFour, kTwo);
  visit(float{}, kFour, std::integral_constant<int, kMaxTypedTensors>{});
}

template <bool kChunks>
void launch_mixed_of(const LaunchContext& context, const ElementwiseParams& p) {
  visit_mixed(p, [&](auto result, auto width, auto tensors) {
    launch_mixed_of<kChunks, decltype(result), decltype(width)::value, decltype(tensors)::value>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
