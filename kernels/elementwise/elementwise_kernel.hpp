// The element-wise kernel: a lane makes aligned vectors of the output, one row's elements each, from vectors
// of the operands that lie wherever the nest puts them. Every element of the output is written once; of the
// operands, each vector is read once (twice its ends, where it is not aligned). Operations, element types and
// strides are run-time values, on which all lanes branch alike, once for several vectors. An instance knows
// the type that is computed in and the vector's width. What is most common has kernels of its own
// (elementwise_typed.hpp, elementwise_chain.hpp, elementwise_transposed.hpp); so has what has more tensors,
// or a running value that is no first operand (elementwise_program.hpp).
#pragma once

#include "kernels/block_index.hpp"
#include "kernels/elementwise/approximate_operations.hpp"
#include "kernels/elementwise/costly_operations.hpp"
#include "kernels/elementwise/nest_rows.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

constexpr int kElementwiseThreads = 256;

/// How many of a lane's vectors are computed together: as many as hold 16 numbers of 4 bytes or 8 of 8 bytes,
/// but at most 2.
template <class C, int kWidth>
constexpr int vectors_together = 64 / static_cast<int>(sizeof(C)) / kWidth >= 2 ? 2 : 1;

/// Where a vector of the output is, and what of it is in the row.
struct OutputPlace {
  unsigned char* address = nullptr;
  int begin = 0, end = 0;
};

/// Splits a vector's number into its row's indices and its place in the row. Calls add_axis(axis, index) for
/// the nest's outer axes, and returns the place.
template <class Index, class RowVectors, class Extent, class AddAxis>
__device__ __forceinline__ Index split_vector(const ElementwiseParams& p, Index vector,
                                              const RowVectors& row_vectors, const Extent& extent,
                                              AddAxis&& add_axis) {
  if (p.rank == 1) return vector;
  Index column = vector;
  const Index row = split(column, row_vectors);
  split_row(p, row, extent, add_axis);
  return column;
}

/// Starts the loads of vector number `vector` of all tensors.
template <int kWidth, int kTensors, class Load>
__device__ __forceinline__ OutputPlace start_vector(const ElementwiseParams& p, std::int64_t vector,
                                                    Load (&loads)[kTensors]) {
  std::int64_t column, offsets[kTensors] = {}, out_offset = 0;
  const auto add_axis = [&](int axis, std::int64_t index) {
    out_offset += index * p.out_strides[axis];
#pragma unroll
    for (int t = 0; t < kTensors; ++t) offsets[t] += index * p.tensor[t].strides[axis];
  };
  if (p.fits_32_bits) {
    column = split_vector(
        p, static_cast<std::uint32_t>(vector), p.row_divisor, [&](int axis) { return p.axes[axis].extent; },
        add_axis);
  } else {
    column = static_cast<std::int64_t>(split_vector(
        p, static_cast<std::uint64_t>(vector), static_cast<std::uint64_t>(p.row_vectors),
        [&](int axis) { return static_cast<std::uint64_t>(p.extents[axis]); }, add_axis));
  }
  unsigned char* const out = static_cast<unsigned char*>(p.out) + out_offset * p.out_bytes;
  const Span span = span_of<kWidth>(p, out, column);
  const int last = p.rank - 1;
  if (span.begin < span.end) {
#pragma unroll
    for (int t = 0; t < kTensors; ++t) {
      const TensorOperand& tensor = p.tensor[t];
      if (t >= p.tensors) continue;
      const auto* row = static_cast<const unsigned char*>(tensor.data) + offsets[t] * tensor.bytes;
      loads[t].start(tensor.access, tensor.bytes, tensor.strides[last], row, span);
    }
  }
  return {out + span.first * p.out_strides[last] * p.out_bytes, span.begin, span.end};
}

template <int kWidth, class C, int kTensors, int kVectors, int kCount>
__device__ __forceinline__ void fetch(const ElementwiseParams& p, const Words (&inputs)[kTensors][kVectors],
                                      const Argument& argument, C (&numbers)[kCount]) {
  const C constant = argument.tensor < 0 ? constant_of<C>(argument.bits()) : C{0};
#pragma unroll
  for (int i = 0; i < kCount; ++i) numbers[i] = constant;
  if (argument.tensor < 0) return;
  // The choice is made word by word: one between whole vectors would put them into memory.
  Words vectors[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      std::uint32_t word = inputs[0][v].values[k];
#pragma unroll
      for (int t = 1; t < kTensors; ++t) {
        const std::uint32_t other = inputs[t][v].values[k];
        word = argument.tensor == t ? other : word;
      }
      vectors[v].values[k] = word;
    }
  }
  read_numbers<kWidth>(p, p.tensor[argument.tensor], vectors, numbers);
}

template <class C, int kCount>
__device__ __forceinline__ void flush(const ElementwiseParams& p, C (&numbers)[kCount]) {
  if constexpr (std::is_same_v<C, float>) {
    if (!p.flush_to_zero) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (fabsf(numbers[i]) < 0x1p-126f) numbers[i] = copysignf(0.0f, numbers[i]);
    }
  }
}

/// Which operations a step may be: cheap ones always, and besides them activations, costly operations or
/// approximated ones. The typed kernels have one step, which is a cheap operation, a costly one of two
/// operands, or a function: a costly one of a single operand.
enum class Steps { cheap, activation, costly, function, approximate };

template <Steps kSteps, class C, int kCount>
__device__ __forceinline__ void apply(const ElementwiseParams& p, Operation operation, C (&a)[kCount],
                                      const C (&b)[kCount], const C (&c)[kCount]) {
  if constexpr (kSteps == Steps::approximate) {
    if (is_approximated(operation, p.precision)) return approximate_operation(p.precision, operation, a, b);
  }
  if constexpr (kSteps == Steps::activation) {
    if (visit_activation<C>(operation, [&](auto f) { each(a, f); })) return;
  }
  if constexpr (kSteps == Steps::costly) {
    if (is_costly(operation, p.rounding, is_real<C>)) return costly_operation(p, operation, a, b);
  }
  cheap_operation(p, operation, a, b, c);
}

/// `inputs` to the output's vectors.
template <class C, int kWidth, Steps kSteps, int kTensors, int kVectors>
__device__ __forceinline__ void compute(const ElementwiseParams& p, const Words (&inputs)[kTensors][kVectors],
                                        Words (&results)[kVectors]) {
  C a[kVectors * kWidth], b[kVectors * kWidth] = {}, c[kVectors * kWidth] = {};
  fetch<kWidth>(p, inputs, p.argument[0], a);
  flush(p, a);
  int next = 1;
#pragma unroll 1
  for (int s = 0; s < p.steps; ++s) {
    const int operands = p.step[s].operands;
    if (operands >= 2) {
      fetch<kWidth>(p, inputs, p.argument[next++], b);
      flush(p, b);
    }
    if (operands == 3) fetch<kWidth>(p, inputs, p.argument[next++], c);
    apply<kSteps>(p, p.step[s].operation, a, b, c);
    flush(p, a);
    if (s + 1 < p.steps) narrow(p, a);
  }
  if (!p.convert) return write_numbers<kWidth>(p.out_type, p.out_bytes, a, results);
  write_numbers<kWidth>(p.result, p.result_bytes, a, results);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) results[v] = convert_words<kWidth>(p, results[v]);
}

template <class C, int kWidth, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 2) void elementwise_kernel(const ElementwiseParams p) {
  constexpr int kVectors = vectors_together<C, kWidth>;
  const std::int64_t first =
      static_cast<std::int64_t>(block_index()) * (kElementwiseThreads * kVectors) + threadIdx.x;
  VectorLoad<false, kWidth> loads[kVectors][kMaxTypedTensors];
  OutputPlace places[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t vector = first + v * kElementwiseThreads;
    if (vector < p.vectors) places[v] = start_vector<kWidth>(p, vector, loads[v]);
  }
  Words inputs[kMaxTypedTensors][kVectors], results[kVectors];
#pragma unroll
  for (int t = 0; t < kMaxTypedTensors; ++t) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) inputs[t][v] = loads[v][t].words();
  }
  compute<C, kWidth, kSteps>(p, inputs, results);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (places[v].begin < places[v].end)
      store_vector<kWidth>(places[v].address, p.out_strides[p.rank - 1], p.out_bytes, places[v].begin,
                           places[v].end, results[v], p.streaming);
  }
}

template <class C, int kWidth, Steps kSteps>
void launch_instance(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr std::int64_t kPerBlock = kElementwiseThreads * vectors_together<C, kWidth>;
  const NumberedBlocks shape = numbered_blocks(divide_up(p.vectors, kPerBlock), kElementwiseThreads);
  launch(name_of(p.step[p.steps - 1].operation), context, shape, elementwise_kernel<C, kWidth, kSteps>, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
