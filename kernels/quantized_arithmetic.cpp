// add, sub and mul of 8-bit codes to 8-bit codes, with scales and zero points that are constant along each
// row of the nest. A lane makes 4 aligned vectors of 16 codes of one row, from 16 bytes of each operand or
// from a code that is repeated; bytes become floats, and floats bytes, without a conversion: as the low bits
// of a float between 2^23 and 2^24. Vectors that stick out of their row, and rows with scales that are too
// large or small to be multiplied beforehand, are made code by code, every step rounded once.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_numbers.hpp"
#include "kernels/nest_rows.hpp"
#include "kernels/quantized_numbers.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = 256, kWidth = 16, kVectors = kArithmeticVectors;

/// What the codes of one row stand for.
struct RowCodes {
  const unsigned char* row;  // an operand's
  bool repeated;             // its first code for all
  std::uint32_t first_code;  // of a row that is repeated
  float scale;
  std::int32_t zero;
  bool is_signed;

  __device__ __forceinline__ float number(int i) const {
    return number_of_code(code_of(row[repeated ? 0 : i], is_signed), zero, scale);
  }
  /// Starts the load of codes [first, first + 16) of the row, from a multiple of 16 bytes on.
  __device__ __forceinline__ void load(int first, Words& words) const {
    if (!repeated) load_global_16_bytes(&words, row + first);
  }
  /// What was loaded, or 16 times the row's first code.
  __device__ __forceinline__ Words vector_of(const Words& loaded) const {
    Words words;
#pragma unroll
    for (int k = 0; k < 4; ++k) words.values[k] = repeated ? first_code * 0x01010101u : loaded.values[k];
    return words;
  }
  /// The highest bit flipped, signed codes are in order from 0 on, too.
  __device__ __forceinline__ std::uint32_t flip() const { return is_signed ? 0x80808080u : 0; }
  __device__ __forceinline__ float offset() const {
    return 0x1p23f + static_cast<float>(is_signed ? zero + 128 : zero);
  }
};

/// code - zero of the four codes in a word.
__device__ __forceinline__ void steps_of(std::uint32_t word, std::uint32_t flip, float offset,
                                         float (&steps)[4]) {
  constexpr std::uint32_t kExponent = 0x4b000000u;  // of 2^23
  const std::uint32_t codes = word ^ flip;
  steps[0] = __uint_as_float(permute_bytes<0x7440>(codes, kExponent)) - offset;
  steps[1] = __uint_as_float(permute_bytes<0x7441>(codes, kExponent)) - offset;
  steps[2] = __uint_as_float(permute_bytes<0x7442>(codes, kExponent)) - offset;
  steps[3] = __uint_as_float(permute_bytes<0x7443>(codes, kExponent)) - offset;
}

struct Row {
  RowCodes a, b, out;

  __device__ __forceinline__ bool folds() const {
    const float smallest = fminf(fminf(a.scale, fabsf(b.scale)), out.scale);
    const float largest = fmaxf(fmaxf(a.scale, fabsf(b.scale)), out.scale);
    return smallest >= kLeastFoldedScale && largest <= kMostFoldedScale;
  }
};

template <bool kMul>
__device__ __forceinline__ float combine(float a, float b) {
  return kMul ? a * b : a + b;
}

/// What is the same for all vectors of a row.
template <bool kMul>
struct FoldedRow {
  static constexpr float kWhole = 0x1.8p23f;  // a sum with it has no bits below 1
  std::uint32_t a_flip, b_flip;
  float a_offset, b_offset, a_scale, b_scale, factor, low, high, zero;

  __device__ __forceinline__ explicit FoldedRow(const Row& row)
      : a_flip(row.a.flip()),
        b_flip(row.b.flip()),
        a_offset(row.a.offset()),
        b_offset(row.b.offset()),
        a_scale(row.a.scale),
        b_scale(row.b.scale),
        factor((kMul ? a_scale * b_scale : 1.0f) / row.out.scale),
        low(kWhole + static_cast<float>((row.out.is_signed ? -128 : 0) - row.out.zero)),
        high(low + 255),
        zero(static_cast<float>(row.out.zero)) {}

  /// The result / out.scale is rounded by the sum that the last product is fused with. Before it, a product
  /// of steps is exact; of sums every step is rounded, since operands that nearly cancel leave their errors.
  __device__ __forceinline__ Words codes(const Words& a, const Words& b) const {
    Words result;
#pragma unroll
    for (int k = 0; k < kWidth / 4; ++k) {
      float x[4], y[4];
      steps_of(a.values[k], a_flip, a_offset, x);
      steps_of(b.values[k], b_flip, b_offset, y);
      std::uint32_t codes[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float number = kMul ? x[i] * y[i] : x[i] * a_scale + y[i] * b_scale;
        const float whole = fminf(fmaxf(fmaf(number, factor, kWhole), low), high);
        codes[i] = __float_as_uint(whole + zero);
      }
      result.values[k] = joined_bytes(codes[0], codes[1], codes[2], codes[3]);
    }
    return result;
  }
};

/// Offsets of a row, of everything that has one.
struct RowOffsets {
  std::int32_t out = 0, a = 0, b = 0, number[6] = {};
};

template <class T>
__device__ __forceinline__ void add_step(const QuantizedParams& p, const TensorOrConstant<T>& number,
                                         int axis, std::int32_t index, std::int32_t& offset) {
  if (number.tensor >= 0) offset += index * static_cast<std::int32_t>(p.tensor[number.tensor].strides[axis]);
}

__device__ __forceinline__ void load_numbers(const QuantizedParams& p, const CodeNumbers& codes,
                                             std::int32_t scale_offset, std::int32_t zero_offset,
                                             RowCodes& row) {
  row.is_signed = codes.is_signed;
  row.scale = codes.scale.constant;
  row.zero = codes.zero.constant;
  if (codes.scale.tensor >= 0)
    row.scale = static_cast<const float*>(p.tensor[codes.scale.tensor].data)[scale_offset];
  if (codes.zero.tensor >= 0)
    row.zero = code_of(static_cast<const unsigned char*>(p.tensor[codes.zero.tensor].data)[zero_offset],
                       codes.is_signed);
}

__device__ __forceinline__ RowCodes operand_row(const QuantizedParams& p, const QuantizedArgument& argument,
                                                std::int32_t offset) {
  const TensorOperand& tensor = p.tensor[argument.value.tensor];
  RowCodes row{};
  row.row = static_cast<const unsigned char*>(tensor.data) + offset;
  row.repeated = tensor.access == Access::repeated;
  if (row.repeated) row.first_code = *row.row;
  return row;
}

template <bool kFlat>
__device__ __forceinline__ Row find_row(const QuantizedParams& p, std::uint32_t number, unsigned char*& out) {
  const QuantizedArgument &a = p.argument[0], &b = p.argument[1];
  RowOffsets at;
  const auto add_axis = [&](int axis, std::uint32_t i) {
    const std::int32_t index = static_cast<std::int32_t>(i);
    at.out += index * static_cast<std::int32_t>(p.out_strides[axis]);
    at.a += index * static_cast<std::int32_t>(p.tensor[a.value.tensor].strides[axis]);
    at.b += index * static_cast<std::int32_t>(p.tensor[b.value.tensor].strides[axis]);
    add_step(p, a.codes.scale, axis, index, at.number[0]);
    add_step(p, a.codes.zero, axis, index, at.number[1]);
    add_step(p, b.codes.scale, axis, index, at.number[2]);
    add_step(p, b.codes.zero, axis, index, at.number[3]);
    add_step(p, p.out_codes.scale, axis, index, at.number[4]);
    add_step(p, p.out_codes.zero, axis, index, at.number[5]);
  };
  if (!kFlat) split_row(p, number, p.divisors, add_axis);
  Row row{operand_row(p, a, at.a), operand_row(p, b, at.b), {}};
  load_numbers(p, a.codes, at.number[0], at.number[1], row.a);
  load_numbers(p, b.codes, at.number[2], at.number[3], row.b);
  load_numbers(p, p.out_codes, at.number[4], at.number[5], row.out);
  if (p.operation == Operation::sub) row.b.scale = -row.b.scale;
  out = static_cast<unsigned char*>(p.out) + at.out;
  return row;
}

/// kFlat: all is one row, of which a block makes a piece; else a lane's vectors are a part of the row apart.
template <bool kMul, bool kFlat>
__global__ RELAYOUT_LAUNCH_BOUNDS(kThreads, 3) void arithmetic_kernel(const QuantizedParams p) {
  const std::uint32_t lane = blockIdx.x * kThreads + threadIdx.x;
  std::uint32_t row_number = 0, column = lane, apart = kThreads;
  if (kFlat) {
    column += blockIdx.x * (kVectors - 1) * kThreads;
  } else {
    if (lane >= p.lanes) return;
    apart = p.row_divisor.value;
    row_number = split(column, p.row_divisor);
  }
  unsigned char* out;
  const Row row = find_row<kFlat>(p, row_number, out);
  const int extent = static_cast<int>(p.extents[p.rank - 1]);
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & (kWidth - 1));
  Words a[kVectors], b[kVectors];
  const auto first_of = [&](int v) { return static_cast<int>(column + v * apart) * kWidth - lead; };
  const auto is_inside = [&](int first) { return first >= 0 && first + kWidth <= extent; };
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int first = first_of(v);
    if (!is_inside(first)) continue;
    row.a.load(first, a[v]);
    row.b.load(first, b[v]);
  }
  const bool folds = row.folds();  // nothing is waited for before all loads are started
  const FoldedRow<kMul> folded(row);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int first = first_of(v);
    if (!folds || !is_inside(first)) continue;
    const Words words = folded.codes(row.a.vector_of(a[v]), row.b.vector_of(b[v]));
    store_global_16_bytes(out + first, &words, p.streaming);
  }
#pragma unroll 1
  for (int v = 0; v < kVectors; ++v) {
    const int first = first_of(v);
    if (folds && is_inside(first)) continue;
    const int end = first + kWidth < extent ? first + kWidth : extent;
#pragma unroll 1
    for (int i = first < 0 ? 0 : first; i < end; ++i)
      out[i] = static_cast<unsigned char>(code_of_number(combine<kMul>(row.a.number(i), row.b.number(i)),
                                                         row.out.zero, row.out.scale, row.out.is_signed));
  }
}

template <bool kMul>
void launch_arithmetic(const LaunchContext& context, const QuantizedParams& p) {
  const bool flat = p.rank == 1;
  const std::int64_t lanes = flat ? (p.row_vectors + kVectors - 1) / kVectors : p.lanes;
  LaunchShape shape;
  shape.blocks_x = (lanes + kThreads - 1) / kThreads;
  shape.threads_x = kThreads;
  launch("quantized", context, shape, flat ? arithmetic_kernel<kMul, true> : arithmetic_kernel<kMul, false>,
         p);
}

}  // namespace

void launch_quantized_arithmetic(const LaunchContext& context, const QuantizedParams& p) {
  if (p.operation == Operation::mul) return launch_arithmetic<true>(context, p);
  launch_arithmetic<false>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
