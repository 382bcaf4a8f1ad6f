// add, sub and mul of 8-bit codes to 8-bit codes, with scales and zero points that are constant along each
// row of the nest. A lane makes 4 aligned vectors of 16 codes of one row, from 16 bytes of each operand or
// from a code that is repeated; bytes become floats, and floats integers, without a conversion: as the low
// bits of a float between 2^23 and 2^24. Vectors that stick out of their row, and rows with scales of which
// factors could not be made beforehand, are made code by code, every step rounded once.
#include "kernels/elementwise/code_rows.hpp"
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_numbers.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = 256, kWidth = 16, kVectors = kCodeRowVectors;

/// The differences code - zero of the four codes in a word.
__device__ __forceinline__ void steps_of(std::uint32_t word, std::uint32_t flip, float offset,
                                         float (&steps)[4]) {
  constexpr std::uint32_t kExponent = 0x4b000000u;  // of 2^23
  const std::uint32_t codes = word ^ flip;
  steps[0] = __uint_as_float(permute_bytes<0x7440>(codes, kExponent)) - offset;
  steps[1] = __uint_as_float(permute_bytes<0x7441>(codes, kExponent)) - offset;
  steps[2] = __uint_as_float(permute_bytes<0x7442>(codes, kExponent)) - offset;
  steps[3] = __uint_as_float(permute_bytes<0x7443>(codes, kExponent)) - offset;
}

template <bool kMul>
__device__ __forceinline__ float combine(float a, float b) {
  return kMul ? a * b : a + b;
}

/// Whether factors can be made beforehand: nothing is subnormal, and only what is far beyond the codes
/// overflows.
__device__ __forceinline__ bool folds(const Row& row) {
  const float x = fabsf(row.a.scale), y = fabsf(row.b.scale), out = row.out.scale;
  return fminf(fminf(x, y), out) >= kMinFoldedScale && fmaxf(fmaxf(x, y), out) <= kMaxFoldedScale;
}

/// Whether each result, in steps of the output's scale, is an integer that the low bits of a float hold.
template <bool kMul>
__device__ __forceinline__ bool holds_results(const Row& row) {
  constexpr float kMaxSteps = 255.0f, kHeld = 0x1p21f;
  const float x = fabsf(row.a.scale), y = fabsf(row.b.scale);
  return combine<kMul>(kMaxSteps * x, kMaxSteps * y) <= kHeld * row.out.scale;
}

/// What is the same for all vectors of a row. With kRepeated, b is one code for the whole row.
template <bool kMul, bool kRepeated>
struct FoldedRow {
  std::uint32_t a_flip, b_flip, out_flip;
  float a_offset, b_offset, a_scale, b_scale, factor, b_number = 0;
  std::int32_t zero;  // of the output, to the bits of a sum with kWhole, as a signed code

  __device__ __forceinline__ explicit FoldedRow(const Row& row)
      : a_flip(row.a.flip()),
        b_flip(row.b.flip()),
        out_flip(row.out.flip() ^ 0x80808080u),
        a_offset(row.a.offset()),
        b_offset(row.b.offset()),
        a_scale(row.a.scale),
        b_scale(row.b.scale),
        factor((kMul ? a_scale * b_scale : 1.0f) / row.out.scale),
        zero(row.out.zero - (row.out.is_signed ? 0 : 128) - static_cast<std::int32_t>(kWholeBits)) {
    if (!kRepeated) return;
    const auto steps = static_cast<float>(code_of(row.b.first_code, row.b.is_signed) - row.b.zero);
    if (kMul) {
      factor *= steps;
    } else {
      b_number = steps * b_scale;
    }
  }

  /// The last product is fused with a sum that rounds result / out.scale. Before it, a product of steps is
  /// exact. In a sum every step is rounded, since what is left of operands that nearly cancel shows their
  /// errors. kHeld: holds_results(). Floats from 0 on have the order of their bits as integers, so that
  /// results that are not held are clamped as well. A sum below 0 has not, and becomes 0 before.
  template <bool kHeld>
  __device__ __forceinline__ Words codes(const Words& a, const Words& b) const {
    Words result;
#pragma unroll
    for (int k = 0; k < kWidth / 4; ++k) {
      float x[4], y[4] = {};
      steps_of(a.values[k], a_flip, a_offset, x);
      if (!kRepeated) steps_of(b.values[k], b_flip, b_offset, y);
      std::int32_t codes[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float number = kMul ? (kRepeated ? x[i] : x[i] * y[i])
                                  : x[i] * a_scale + (kRepeated ? b_number : y[i] * b_scale);
        const float sum = fmaf(number, factor, kWhole);
        codes[i] = static_cast<std::int32_t>(__float_as_uint(kHeld ? sum : fmaxf(sum, 0.0f))) + zero;
      }
      result.values[k] = saturated_bytes(codes) ^ out_flip;
    }
    return result;
  }
};

/// With kFlat, everything is one row, and a block makes a piece of it. Otherwise several lanes share a row,
/// and a lane's vectors lie as many vectors apart as lanes share it. With kRepeated, an operand is one code
/// for each row.
template <bool kMul, bool kFlat, bool kRepeated>
__global__ RELAYOUT_LAUNCH_BOUNDS(kThreads, 3) void arithmetic_kernel(const CodeRowParams p) {
  const std::uint32_t lane = blockIdx.x * kThreads + threadIdx.x;
  std::uint32_t row_number = 0, column = lane, apart = kThreads;
  if (kFlat) {
    column += blockIdx.x * (kVectors - 1) * kThreads;
  } else {
    if (lane >= p.lanes) return;
    apart = p.row_divisor.value;
    row_number = split(column, p.row_divisor);
  }
  const Row row = kFlat ? find_row<kRepeated>(p, 0) : find_row<kRepeated>(p, row_number);
  unsigned char* const out = const_cast<unsigned char*>(row.out.row);
  const int extent = p.extent;
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) & (kWidth - 1));
  Words a[kVectors], b[kVectors];
  const auto first_of = [&](int v) { return static_cast<int>(column + v * apart) * kWidth - lead; };
  const auto is_inside = [&](int first) { return first >= 0 && first + kWidth <= extent; };
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int first = first_of(v);
    if (!is_inside(first)) continue;
    row.a.load(first, a[v]);
    if (!kRepeated) row.b.load(first, b[v]);
  }
  const bool is_folded = folds(row);  // nothing is waited for before all loads are started
  const bool is_held = holds_results<kMul>(row);
  const FoldedRow<kMul, kRepeated> folded(row);
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int first = first_of(v);
    if (!is_folded || !is_inside(first)) continue;
    const Words words =
        is_held ? folded.template codes<true>(a[v], b[v]) : folded.template codes<false>(a[v], b[v]);
    store_global_16_bytes(out + first, &words, p.streaming);
  }
#pragma unroll 1
  for (int v = 0; v < kVectors; ++v) {
    const int first = first_of(v);
    if (is_folded && is_inside(first)) continue;
    const int end = first + kWidth < extent ? first + kWidth : extent;
#pragma unroll 1
    for (int i = first < 0 ? 0 : first; i < end; ++i)
      out[i] = static_cast<unsigned char>(code_of_number(combine<kMul>(row.a.number(i), row.b.number(i)),
                                                         row.out.zero, row.out.scale, row.out.is_signed));
  }
}

template <bool kMul>
void launch_arithmetic(const LaunchContext& context, const ElementwiseParams& p) {
  const bool flat = p.rank == 1;
  const std::int64_t lanes = flat ? divide_up(p.row_vectors, kVectors) : p.lanes;
  const LaunchShape shape = launch_shape(divide_up(lanes, kThreads), kThreads);
  const CodeRowParams rows = code_row_params(p);
  const auto kernel =
      rows.repeated[kSecond]
          ? (flat ? arithmetic_kernel<kMul, true, true> : arithmetic_kernel<kMul, false, true>)
          : (flat ? arithmetic_kernel<kMul, true, false> : arithmetic_kernel<kMul, false, false>);
  launch("quantized", context, shape, kernel, rows);
}

}  // namespace

void launch_code_rows(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.step[0].operation == Operation::mul) return launch_arithmetic<true>(context, p);
  launch_arithmetic<false>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
