// Any operation on 8-bit codes: a lane makes an aligned vector of 4 elements of the output, one row's, from
// operands, scales and zero points that lie wherever the nest puts them. Every step is rounded once.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/costly_operations.hpp"
#include "kernels/elementwise/nest_rows.hpp"
#include "kernels/elementwise/quantized_numbers.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = 256, kWidth = 4;

/// A vector of the output: its row, and what of it is in the row.
struct VectorCoord {
  std::int64_t row;
  Span span;
};

__device__ __forceinline__ std::int64_t row_offset(const QuantizedParams& p, const std::int64_t* strides,
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

__device__ __forceinline__ Words load_vector(const QuantizedParams& p, int number, const VectorCoord& place) {
  const TensorOperand& tensor = p.tensor[number];
  const unsigned char* const row = static_cast<const unsigned char*>(tensor.data) +
                                   row_offset(p, tensor.strides, place.row) * tensor.bytes;
  VectorLoad<false, kWidth> load;
  load.start(tensor.access, tensor.bytes, tensor.strides[p.rank - 1], row, place.span);
  return load.words();
}

__device__ __forceinline__ void load_floats(const QuantizedParams& p, const TensorOrConstant<float>& value,
                                            const VectorCoord& place, float (&numbers)[kWidth]) {
#pragma unroll
  for (float& number : numbers) number = value.constant;
  if (value.tensor < 0) return;
  const Words words = load_vector(p, value.tensor, place);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) numbers[i] = __uint_as_float(words.values[i]);
}

__device__ __forceinline__ void load_zeros(const QuantizedParams& p, const CodeNumbers& codes,
                                           const VectorCoord& place, std::int32_t (&zeros)[kWidth]) {
#pragma unroll
  for (std::int32_t& zero : zeros) zero = codes.zero.constant;
  if (codes.zero.tensor < 0) return;
  const Words words = load_vector(p, codes.zero.tensor, place);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) zeros[i] = code_of(element_of<std::uint8_t>(words, i), codes.is_signed);
}

__device__ __forceinline__ void load_argument(const QuantizedParams& p, const QuantizedArgument& argument,
                                              const VectorCoord& place, float (&numbers)[kWidth]) {
  if (!argument.coded) return load_floats(p, argument.value, place, numbers);
  const Words words = load_vector(p, argument.value.tensor, place);
  float scales[kWidth];
  std::int32_t zeros[kWidth];
  load_floats(p, argument.codes.scale, place, scales);
  load_zeros(p, argument.codes, place, zeros);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const std::int32_t code = code_of(element_of<std::uint8_t>(words, i), argument.codes.is_signed);
    numbers[i] = number_of_code(code, zeros[i], scales[i]);
  }
}

__device__ __forceinline__ Words result_words(const QuantizedParams& p, const VectorCoord& place,
                                              const float (&numbers)[kWidth]) {
  Words words{};
  if (p.out_coded) {
    float scales[kWidth];
    std::int32_t zeros[kWidth];
    load_floats(p, p.out_codes.scale, place, scales);
    load_zeros(p, p.out_codes, place, zeros);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      put_element(
          words, i,
          static_cast<std::uint8_t>(code_of_number(numbers[i], zeros[i], scales[i], p.out_codes.is_signed)));
    return words;
  }
  Vectors<1> vectors;
  write_numbers<kWidth>(p.out_type, p.out_bytes, numbers, vectors);
  return vectors[0];
}

template <bool kCostly>
__global__ RELAYOUT_LAUNCH_BOUNDS(kThreads, 2) void any_kernel(const QuantizedParams p) {
  const std::int64_t vector = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
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
  float a[kWidth], b[kWidth] = {}, c[kWidth] = {};
  load_argument(p, p.argument[0], place, a);
  if (p.operands >= 2) load_argument(p, p.argument[1], place, b);
  if (p.operands == 3) load_argument(p, p.argument[2], place, c);
  const ElementwiseParams nearest;  // how element-wise operations round, to nearest
  if constexpr (kCostly) {
    costly_operation(nearest, p.operation, a, b);
  } else {
    if (!p.converts) cheap_operation(nearest, p.operation, a, b, c);
  }
  const std::int64_t stride = p.out_strides[p.rank - 1];
  store_vector<kWidth>(out + place.span.first * stride * p.out_bytes, stride, p.out_bytes, place.span.begin,
                       place.span.end, result_words(p, place, a), p.streaming);
}

}  // namespace

void launch_quantized_any(const LaunchContext& context, const QuantizedParams& p) {
  LaunchShape shape;
  shape.blocks_x = (p.vectors + kThreads - 1) / kThreads;
  shape.threads_x = kThreads;
  const bool costly = !p.converts && is_costly(p.operation, Rounding::nearest_even, true);
  launch("quantized", context, shape, costly ? any_kernel<true> : any_kernel<false>, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
