// The element-wise kernel for one operation in f32 on up to three tensors of any types, to f32 or bool:
// functions of integers, operands of several types, where.
#pragma once

#include "kernels/elementwise/elementwise_typed.hpp"
#include "kernels/elementwise/row_chunks.hpp"

namespace relayout::RELAYOUT_BACKEND {

// R is the result's type. kWidth is the number of elements in a vector; those of the widest type, among the
// operands and the output, fill 16 bytes. kTensors is the most tensors that a launch may have.

constexpr int kMixedThreads = 128, kMixedVectors = 2;  // of a block, and of a lane

/// Calls visit(t, a number as large as an element) for each tensor, so that its size is asked for once for
/// all of a lane's elements.
template <int kWidth, int kTensors, class Visit>
__device__ __forceinline__ void each_tensor(const ElementwiseParams& p, const Visit& visit) {
#pragma unroll
  for (int t = 0; t < kTensors; ++t) {
    if (t < p.tensors)
      visit_fitting_sizes<kWidth>(p.tensor[t].bytes,
                                  [&](auto tag) { visit(t, typename decltype(tag)::type{}); });
  }
}

/// Loads the tensors' vectors, which are aligned or repeat one element. All are under way before the first is
/// waited for.
template <class R, int kWidth, int kTensors, int kVectors>
__device__ __forceinline__ void load_mixed(const ElementwiseParams& p,
                                           const LaneVectors<R, kWidth, kVectors>& lane,
                                           Words (&words)[kTensors][kVectors]) {
  VectorLoad<true, kWidth> loads[kTensors][kVectors] = {};
  each_tensor<kWidth, kTensors>(p, [&](int t, auto bits) {
    using Bits = decltype(bits);
    if (!start_vectors<Bits>(p, t, lane, loads[t])) load_elements<Bits>(p, t, lane, loads[t]);
  });
  each_tensor<kWidth, kTensors>(
      p, [&](int t, auto bits) { finish_loads<decltype(bits)>(p.tensor[t], loads[t], words[t]); });
}

/// a = f(a, b), or f(a), kTurn numbers at a time.
template <int kNumbers, class F>
__device__ __forceinline__ void in_turns_of(float (&a)[kNumbers], const float (&b)[kNumbers], const F& f) {
  constexpr int kStep = kTurn<float>;
#pragma unroll
  for (int first = 0; first < kNumbers; first += kStep) {
    float x[kStep], y[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      x[i] = a[first + i];
      y[i] = b[first + i];
    }
    call_each(f, x, y);
#pragma unroll
    for (int i = 0; i < kStep; ++i) a[first + i] = x[i];
  }
}

/// Applies the operation to what was loaded: a function, or any other one.
template <class R, Steps kSteps, int kWidth, int kTensors, int kVectors>
__device__ __forceinline__ void compute_mixed(const ElementwiseParams& p,
                                              const Words (&inputs)[kTensors][kVectors],
                                              Words (&results)[kVectors]) {
  constexpr int kNumbers = kWidth * kVectors;
  const ProgramStep& step = p.step[0];
  float a[kNumbers], b[kNumbers] = {}, c[kNumbers] = {};
  fetch<kWidth>(p, inputs, p.argument[0], a);
  const auto visit = [&](const auto& f) { in_turns_of(a, b, f); };
  if constexpr (kSteps == Steps::function) {
    visit_function<float>(step.operation, visit);
  } else {
    if (step.operands >= 2) fetch<kWidth>(p, inputs, p.argument[1], b);
    if (step.operands == 3) fetch<kWidth>(p, inputs, p.argument[2], c);
    if constexpr (std::is_same_v<R, bool>) {
      cheap_relation(p, step.operation, a, b);
    } else {
      if (!visit_costly_pair<float>(step.operation, visit)) cheap_value(p, step.operation, a, b, c);
    }
  }
  write_numbers<kWidth>(dtype_of<R>, sizeof(R), a, results);
}

/// Blocks of a multiprocessor for which there are registers enough.
template <Steps kSteps>
constexpr int kMixedBlocks = kSteps == Steps::function ? 12 : 6;

/// The kernel on aligned vectors.
template <class R, int kWidth, int kTensors, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kMixedThreads,
                                  (kMixedBlocks<kSteps>)) void mixed_kernel(const ElementwiseParams p) {
  const std::uint32_t block = static_cast<std::uint32_t>(blockIdx.x * (kMixedThreads * kMixedVectors));
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const BlockRows block_rows(p, block, table);
  const LaneVectors<R, kWidth, kMixedVectors> lane(p, block_rows, block + threadIdx.x);
  Words inputs[kTensors][kMixedVectors] = {}, results[kMixedVectors];
  load_mixed(p, lane, inputs);
  compute_mixed<R, kSteps, kWidth>(p, inputs, results);
  store_vectors(p, lane, results);
}

/// The kernel on rows from any address, or with a stride.
template <class R, int kWidth, int kTensors, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kChunkThreads, (kMixedBlocks<kSteps>)) void mixed_chunks_kernel(
    const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(RowOffsets, table);
  const RowChunk<kWidth * kChunkVectors> chunk(p, table);
  Words inputs[kTensors][kChunkVectors] = {}, results[kChunkVectors];
  each_tensor<kWidth, kTensors>(p, [&](int t, auto bits) {
    load_chunk<decltype(bits), kWidth, kChunkVectors>(p, t, chunk, inputs[t]);
  });
  compute_mixed<R, kSteps, kWidth>(p, inputs, results);
  store_chunk<BitsOf<R>, kWidth>(p, chunk, results);
}

/// With kChunks, the kernel on chunks of rows is launched, otherwise that on aligned vectors.
template <bool kChunks, class R, int kWidth, int kTensors, Steps kSteps>
void launch_mixed_of(const LaunchContext& context, const ElementwiseParams& p) {
  if constexpr (kChunks) {
    launch_chunks(context, p, mixed_chunks_kernel<R, kWidth, kTensors, kSteps>);
  } else {
    launch_block_rows(name_of(p.step[0].operation), context, p, kMixedThreads * kMixedVectors, kMixedThreads,
                      mixed_kernel<R, kWidth, kTensors, kSteps>);
  }
}

/// Calls visit(a value of the result's type, std::integral_constants of a vector's elements, of the tensors
/// and of the steps, which are a function or any other operation).
template <class Visit>
void visit_mixed(const ElementwiseParams& p, const Visit& visit) {
  constexpr std::integral_constant<int, 1> kOne;
  constexpr std::integral_constant<int, 2> kTwo;
  constexpr std::integral_constant<int, 4> kFour;
  constexpr std::integral_constant<Steps, Steps::function> kFunction;
  constexpr std::integral_constant<Steps, Steps::costly> kOther;
  if (p.out_type == DType::bool_)
    return p.width == 2 ? visit(bool{}, kTwo, kTwo, kOther) : visit(bool{}, kFour, kTwo, kOther);
  if (p.step[0].operands == 1 && has_costly(p))
    return p.width == 2 ? visit(float{}, kTwo, kOne, kFunction) : visit(float{}, kFour, kOne, kFunction);
  if (p.width == 2) return visit(float{}, kTwo, kTwo, kOther);
  if (p.tensors == 1) return visit(float{}, kFour, kOne, kOther);
  if (p.tensors == 2) return visit(float{}, kFour, kTwo, kOther);
  visit(float{}, kFour, std::integral_constant<int, kMaxTypedTensors>{}, kOther);
}

template <bool kChunks>
void launch_mixed_of(const LaunchContext& context, const ElementwiseParams& p) {
  visit_mixed(p, [&](auto result, auto width, auto tensors, auto steps) {
    launch_mixed_of<kChunks, decltype(result), decltype(width)::value, decltype(tensors)::value,
                    decltype(steps)::value>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
