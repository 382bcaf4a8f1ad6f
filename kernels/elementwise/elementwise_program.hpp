// The element-wise kernel for any program: up to 8 tensors of any types, codes with their scales and zero
// points, results as numbers or codes. A lane makes an aligned vector of the output, one row's elements, and
// loads what a step needs when the step comes, so that the number of tensors takes no registers; each is read
// once (codes' numbers, too). What has fewer tensors has kernels that load them all beforehand
// (elementwise_kernel.hpp). Every step is rounded once.
#pragma once

#include "kernels/elementwise/code_numbers.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class C, int kCount>
__device__ __forceinline__ void exchange(C (&a)[kCount], C (&b)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const C kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

/// a, b and c: the running value and the other operands in their order; they become the operands in theirs.
template <class V>
__device__ __forceinline__ void put_running(int running, V& a, V& b, V& c) {
  if (running == 0) return;
  exchange(a, b);
  if (running == 2) exchange(b, c);
}

/// A vector of the output: its row, and what of it is in the row.
struct VectorCoord {
  std::int64_t row;
  Span span;
};

__device__ __forceinline__ std::int64_t row_offset(const ElementwiseParams& p, const std::int64_t* strides,
                                                   std::int64_t row) {
  std::int64_t offset = 0;
  const auto add_axis = [&](int axis, std::int64_t index) { offset += index * strides[axis]; };
  if (p.fits_32_bits) {
    split_row(p, static_cast<std::uint32_t>(row), p.divisors, add_axis);
  } else {
    const auto* extents = reinterpret_cast<const std::uint64_t*>(p.extents);
    split_row(p, static_cast<std::uint64_t>(row), extents, add_axis);
  }
  return offset;
}

template <int kWidth>
__device__ __forceinline__ Words load_vector(const ElementwiseParams& p, int number,
                                             const VectorCoord& place) {
  const TensorOperand& tensor = p.tensor[number];
  const unsigned char* const row = static_cast<const unsigned char*>(tensor.data) +
                                   row_offset(p, tensor.strides, place.row) * tensor.bytes;
  VectorLoad<false, kWidth> load = {};
  if (tensor.access == Access::periodic_row) {
    load.start_periodic_row(p, number, row, place.span);
  } else {
    load.start(tensor.access, tensor.bytes, tensor.strides[p.rank - 1], row, place.span);
  }
  return load.words();
}

/// Scales and zero points of a vector of codes.
template <int kWidth>
__device__ __forceinline__ void load_scales(const ElementwiseParams& p, const CodeNumbers& codes,
                                            const VectorCoord& place, float (&scales)[kWidth]) {
#pragma unroll
  for (float& scale : scales) scale = codes.scale;
  if (codes.scale_tensor < 0) return;
  const Words words = load_vector<kWidth>(p, codes.scale_tensor, place);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) scales[i] = __uint_as_float(words.values[i]);
}
template <int kWidth>
__device__ __forceinline__ void load_zeros(const ElementwiseParams& p, const CodeNumbers& codes,
                                           const VectorCoord& place, std::int32_t (&zeros)[kWidth]) {
#pragma unroll
  for (std::int32_t& zero : zeros) zero = codes.zero;
  if (codes.zero_tensor < 0) return;
  const Words words = load_vector<kWidth>(p, codes.zero_tensor, place);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) zeros[i] = code_of(element_of<std::uint8_t>(words, i), codes.is_signed);
}

template <int kWidth>
__device__ __forceinline__ void read_codes(const ElementwiseParams& p, const CodeNumbers& codes,
                                           const Words& words, const VectorCoord& place,
                                           float (&numbers)[kWidth]) {
  float scales[kWidth];
  std::int32_t zeros[kWidth];
  load_scales(p, codes, place, scales);
  load_zeros(p, codes, place, zeros);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    numbers[i] =
        number_of_code(code_of(element_of<std::uint8_t>(words, i), codes.is_signed), zeros[i], scales[i]);
}

template <int kWidth>
__device__ __forceinline__ Words write_codes(const ElementwiseParams& p, const VectorCoord& place,
                                             const float (&numbers)[kWidth]) {
  float scales[kWidth];
  std::int32_t zeros[kWidth];
  load_scales(p, p.out_codes, place, scales);
  load_zeros(p, p.out_codes, place, zeros);
  Words words{};
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    put_element(
        words, i,
        static_cast<std::uint8_t>(code_of_number(numbers[i], zeros[i], scales[i], p.out_codes.is_signed)));
  return words;
}

template <class C, int kWidth>
__device__ __forceinline__ void load_argument(const ElementwiseParams& p, const Argument& argument,
                                              const VectorCoord& place, C (&numbers)[kWidth]) {
  const C constant = argument.tensor < 0 ? constant_of<C>(argument.bits()) : C{0};
#pragma unroll
  for (C& number : numbers) number = constant;
  if (argument.tensor < 0) return;
  const TensorOperand& tensor = p.tensor[argument.tensor];
  const Vectors<1> vectors = {load_vector<kWidth>(p, argument.tensor, place)};
  if constexpr (std::is_same_v<C, float>) {
    if (tensor.reading == Reading::codes)
      return read_codes(p, p.codes[argument.tensor], vectors[0], place, numbers);
  }
  read_numbers<kWidth>(p, tensor, vectors, numbers);
}

template <class C, int kWidth>
__device__ __forceinline__ Words result_words(const ElementwiseParams& p, const VectorCoord& place,
                                              const C (&numbers)[kWidth]) {
  if constexpr (std::is_same_v<C, float>) {
    if (p.out_coded) return write_codes(p, place, numbers);
  }
  Vectors<1> vectors = {};
  if (!p.convert) {
    write_numbers<kWidth>(p.out_type, p.out_bytes, numbers, vectors);
    return vectors[0];
  }
  write_numbers<kWidth>(p.result, p.result_bytes, numbers, vectors);
  return convert_words<kWidth>(p, vectors[0]);
}

template <class C, int kWidth, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 2) void program_kernel(const ElementwiseParams p) {
  const std::int64_t vector = static_cast<std::int64_t>(blockIdx.x) * kElementwiseThreads + threadIdx.x;
  if (vector >= p.vectors) return;
  VectorCoord place;
  std::int64_t column;
  if (p.fits_32_bits) {
    std::uint32_t rest = static_cast<std::uint32_t>(vector);
    place.row = split(rest, p.row_divisor);
    column = rest;
  } else {
    std::uint64_t rest = static_cast<std::uint64_t>(vector);
    place.row = static_cast<std::int64_t>(split(rest, static_cast<std::uint64_t>(p.row_vectors)));
    column = static_cast<std::int64_t>(rest);
  }
  unsigned char* const out =
      static_cast<unsigned char*>(p.out) + row_offset(p, p.out_strides, place.row) * p.out_bytes;
  place.span = span_of<kWidth>(p, out, column);
  if (place.span.begin >= place.span.end) return;
  C a[kWidth], b[kWidth] = {}, c[kWidth] = {};
  load_argument(p, p.argument[0], place, a);
  flush(p, a);
  int next = 1;
#pragma unroll 1
  for (int s = 0; s < p.steps; ++s) {
    const ProgramStep& step = p.step[s];
    if (step.operands >= 2) {
      load_argument(p, p.argument[next++], place, b);
      flush(p, b);
    }
    if (step.operands == 3) load_argument(p, p.argument[next++], place, c);
    put_running(step.running, a, b, c);
    apply<kSteps>(p, step.operation, a, b, c);
    flush(p, a);
    if (s + 1 < p.steps) narrow(p, a);
  }
  const std::int64_t stride = p.out_strides[p.rank - 1];
  store_vector<kWidth>(out + place.span.first * stride * p.out_bytes, stride, p.out_bytes, place.span.begin,
                       place.span.end, result_words(p, place, a), p.streaming);
}

template <class C, int kWidth, Steps kSteps>
void launch_program_on(const LaunchContext& context, const ElementwiseParams& p) {
  LaunchShape shape;
  shape.blocks_x = (p.vectors + kElementwiseThreads - 1) / kElementwiseThreads;
  shape.threads_x = kElementwiseThreads;
  const char* const name = p.steps > 0 ? name_of(p.step[p.steps - 1].operation) : "quantize";
  launch(name, context, shape, program_kernel<C, kWidth, kSteps>, p);
}

template <Steps kSteps>
void launch_program_of(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::f32:
      if (p.width == 4) return launch_program_on<float, 4, kSteps>(context, p);
      return launch_program_on<float, 2, kSteps>(context, p);
    case ComputeClass::i32:
      if (p.width == 4) return launch_program_on<std::int32_t, 4, kSteps>(context, p);
      return launch_program_on<std::int32_t, 2, kSteps>(context, p);
    case ComputeClass::i64:
      return launch_program_on<std::int64_t, 2, kSteps>(context, p);
    case ComputeClass::f64:
      return launch_program_on<double, 2, kSteps>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
