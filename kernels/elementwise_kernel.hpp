// The element-wise kernel: a lane makes aligned vectors of the output, one row's elements each, from vectors
// of the operands that lie wherever the nest puts them. Every element of the output is written once; of the
// operands, each vector is read once (twice its ends, where it is not aligned). Operations, element types and
// strides are run-time values, on which all lanes branch alike: some tens of instructions a vector, less than
// a memory-bound kernel has to spare. An instance knows the type that is computed in and the vector's width.
#pragma once

#include "kernels/divide.hpp"
#include "kernels/elementwise_memory.hpp"
#include "kernels/heavy_operations.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

constexpr int kElementwiseThreads = 256;
/// Vectors of a lane whose loads are on their way together.
constexpr int kVectorsAtOnce = 2;

/// Where a vector is: the operands' rows and the elements of the row.
struct VectorPlace {
  const unsigned char* rows[kMostTensors];
  unsigned char* out;
  Span span;
};

template <int kWidth>
__device__ __forceinline__ VectorPlace place_of(const ElementwiseParams& p, std::int64_t vector) {
  const int last = p.rank - 1;
  std::int64_t column = vector;
  std::int64_t offsets[kMostTensors] = {}, out = 0;
  const auto add_axis = [&](int axis, std::int64_t index) {
    out += index * p.out_strides[axis];
#pragma unroll
    for (int t = 0; t < kMostTensors; ++t) offsets[t] += index * p.tensor[t].strides[axis];
  };
  if (last == 0) {
    // one row
  } else if (p.small) {
    std::uint32_t rest = static_cast<std::uint32_t>(vector), row = split(rest, p.row_divisor);
    column = rest;
    for (int axis = last - 1; axis > 0; --axis) {
      std::uint32_t index = row;
      row = split(index, p.divisors[axis]);
      add_axis(axis, index);
    }
    add_axis(0, row);
  } else {
    std::uint64_t rest = static_cast<std::uint64_t>(vector);
    std::uint64_t row = split(rest, static_cast<std::uint64_t>(p.row_vectors));
    column = static_cast<std::int64_t>(rest);
    for (int axis = last - 1; axis > 0; --axis) {
      std::uint64_t index = row;
      row = split(index, static_cast<std::uint64_t>(p.extents[axis]));
      add_axis(axis, static_cast<std::int64_t>(index));
    }
    add_axis(0, static_cast<std::int64_t>(row));
  }
  VectorPlace place;
  const int bytes = bytes_of(p.out_type);
  place.out = static_cast<unsigned char*>(p.out) + out * bytes;
#pragma unroll
  for (int t = 0; t < kMostTensors; ++t)
    place.rows[t] =
        static_cast<const unsigned char*>(p.tensor[t].data) + offsets[t] * bytes_of(p.tensor[t].type);
  const unsigned beyond = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(place.out)) &
                          static_cast<unsigned>(kWidth * bytes - 1);
  const int lead = p.out_strides[last] == 1 ? static_cast<int>(beyond) / bytes : 0;
  place.span.first = column * kWidth - lead;
  place.span.begin = place.span.first < 0 ? static_cast<int>(-place.span.first) : 0;
  const std::int64_t left = p.extents[last] - place.span.first;
  place.span.end = left < kWidth ? static_cast<int>(left) : kWidth;
  return place;
}

/// What the loads of one vector of the output give.
template <int kWidth>
struct Inputs {
  VectorLoad<kWidth> loads[kMostTensors];

  __device__ __forceinline__ void start(const ElementwiseParams& p, const VectorPlace& place) {
#pragma unroll
    for (int t = 0; t < kMostTensors; ++t) {
      if (t < p.tensors)
        loads[t].start(place.rows[t], p.tensor[t].strides[p.rank - 1], bytes_of(p.tensor[t].type),
                       place.span);
    }
  }
};

template <class C, int kWidth>
__device__ __forceinline__ void fetch(const ElementwiseParams& p, const Words (&inputs)[kMostTensors],
                                      const Argument& argument, C (&numbers)[kWidth]) {
  if (argument.tensor < 0) {
    const C constant = constant_of<C>(argument.bits);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) numbers[i] = constant;
    return;
  }
  // Word by word: a choice between the vectors would put them into memory.
  Words words;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t first = inputs[0].values[k], second = inputs[1].values[k],
                        third = inputs[2].values[k];
    words.values[k] = argument.tensor == 0 ? first : argument.tensor == 1 ? second : third;
  }
  read_numbers(p, p.tensor[argument.tensor], words, numbers);
}

/// The light operations alone; each unrolled over the vector.
struct LightOperations {
  template <class C, int kWidth>
  static __device__ __forceinline__ void apply(const ElementwiseParams& p, Operation operation,
                                               C (&a)[kWidth], const C (&b)[kWidth], const C (&c)[kWidth]) {
    light_operation(p, operation, a, b, c);
  }
};

/// All; the vector turns round under the heavy ones.
struct AllOperations {
  template <class C, int kWidth>
  static __device__ __forceinline__ void apply(const ElementwiseParams& p, Operation operation,
                                               C (&a)[kWidth], const C (&b)[kWidth], const C (&c)[kWidth]) {
    if (!is_heavy(operation, p.rounding, is_real<C>)) return light_operation(p, operation, a, b, c);
    C second[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) second[i] = b[i];
#pragma unroll 1
    for (int turn = 0; turn < kWidth; ++turn) {
      C result;
      if constexpr (is_real<C>) {
        result = heavy_real(p, operation, a[0], second[0]);
      } else {
        result = heavy_integer(p, operation, a[0], second[0]);
      }
#pragma unroll
      for (int i = 0; i + 1 < kWidth; ++i) {
        a[i] = a[i + 1];
        second[i] = second[i + 1];
      }
      a[kWidth - 1] = result;
    }
  }
};

template <class C, int kWidth>
__device__ __forceinline__ void flush(const ElementwiseParams& p, C (&numbers)[kWidth]) {
  if constexpr (std::is_same_v<C, float>) {
    if (!p.flush_to_zero) return;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (fabsf(numbers[i]) < 0x1p-126f) numbers[i] = copysignf(0.0f, numbers[i]);
    }
  }
}

template <class C, int kWidth, class Operations>
__device__ __forceinline__ Words compute(const ElementwiseParams& p, const Words (&inputs)[kMostTensors]) {
  C a[kWidth], b[kWidth] = {}, c[kWidth] = {};
  fetch(p, inputs, p.argument[0], a);
  flush(p, a);
  int next = 1;
#pragma unroll 1
  for (int s = 0; s < p.steps; ++s) {
    const int operands = p.step[s].operands;
    if (operands >= 2) {
      fetch(p, inputs, p.argument[next], b);
      flush(p, b);
      ++next;
    }
    if (operands == 3) fetch(p, inputs, p.argument[next++], c);
    Operations::apply(p, p.step[s].operation, a, b, c);
    flush(p, a);
    if (s + 1 < p.steps) narrow(p.common, a);
  }
  if (!p.convert) return write_numbers(p.out_type, a);
  return convert_words<kWidth>(p.cast, bytes_of(p.result), bytes_of(p.out_type), write_numbers(p.result, a));
}

template <class C, int kWidth, class Operations>
__global__ __launch_bounds__(kElementwiseThreads) void elementwise_kernel(const ElementwiseParams p) {
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * (kElementwiseThreads * kVectorsAtOnce) + threadIdx.x;
  Inputs<kWidth> inputs[kVectorsAtOnce];
  VectorPlace places[kVectorsAtOnce];
#pragma unroll
  for (int v = 0; v < kVectorsAtOnce; ++v) {
    places[v].span = Span{0, 0, 0};
    const std::int64_t vector = first + v * kElementwiseThreads;
    if (vector < p.vectors) {
      places[v] = place_of<kWidth>(p, vector);
      if (places[v].span.begin < places[v].span.end) inputs[v].start(p, places[v]);
    }
  }
#pragma unroll 1
  for (int v = 0; v < kVectorsAtOnce; ++v) {
    if (places[0].span.begin < places[0].span.end) {
      Words words[kMostTensors];
#pragma unroll
      for (int t = 0; t < kMostTensors; ++t) words[t] = inputs[0].loads[t].words();
      const Words result = compute<C, kWidth, Operations>(p, words);
      store_vector<kWidth>(places[0].out, p.out_strides[p.rank - 1], bytes_of(p.out_type), places[0].span,
                           result, p.streaming);
    }
    // The vectors move up: an index would put them into memory.
#pragma unroll
    for (int i = 0; i + 1 < kVectorsAtOnce; ++i) {
      places[i] = places[i + 1];
      inputs[i] = inputs[i + 1];
    }
  }
}

template <class C, int kWidth, class Operations>
void launch_elementwise_of(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr std::int64_t kPerBlock = kElementwiseThreads * kVectorsAtOnce;
  LaunchShape shape;
  shape.blocks_x = (p.vectors + kPerBlock - 1) / kPerBlock;
  shape.threads_x = kElementwiseThreads;
  launch(name_of(p.step[p.steps - 1].operation), context, shape, elementwise_kernel<C, kWidth, Operations>,
         p);
}

}  // namespace relayout::RELAYOUT_BACKEND
