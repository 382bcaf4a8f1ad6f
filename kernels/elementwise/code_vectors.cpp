// One bounded operation on codes, to codes, whose rows lie in one piece at any address or are one code that
// is repeated; scales are constant along a row. A lane makes one aligned vector of 16 codes of the output,
// stored by one access, from the aligned words around 16 codes of each operand. Only the two ends of a row
// may be moved code by code.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/bounded_codes.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kCodes = 16, kWordCodes = 4;

/// The low bytes of the numbers.
template <class Number>
__device__ __forceinline__ Words packed(const Number (&numbers)[kCodes]) {
  Words words;
#pragma unroll
  for (int k = 0; k < kCodes / kWordCodes; ++k) {
    std::uint32_t four[kWordCodes];
#pragma unroll
    for (int i = 0; i < kWordCodes; ++i) four[i] = numbers[k * kWordCodes + i];
    words.values[k] = pack_word<std::uint8_t, kWordCodes>(four);
  }
  return words;
}

/// Where a lane's vector lies, and the rows of kCodeTensors tensors.
template <int kCodeTensors>
struct CodeVectorPlace {
  static constexpr int kTensors = kCodeTensors;
  std::int32_t out, tensors[kCodeTensors];  // offsets of the row
  Strip<kCodes> vector;                     // which of its codes are in the row

  __device__ __forceinline__ CodeVectorPlace(const ElementwiseParams& p, std::uint32_t lane) {
    std::uint32_t column = lane, row = split(column, p.row_divisor), sums[1 + kCodeTensors] = {};
    const auto take = [&](int axis) {
      sums[0] += row * static_cast<std::uint32_t>(p.out_strides[axis]);
#pragma unroll
      for (int t = 0; t < kCodeTensors; ++t)
        sums[1 + t] += row * static_cast<std::uint32_t>(p.tensor[t].strides[axis]);
    };
    const auto divide = [&](int axis) {
      row = divided(row, p.strip_axes[axis].multiplier, p.strip_axes[axis].shift);
    };
    take_axes<kUnrolledStripAxes>(p.rank - 1, take, divide);
    out = static_cast<std::int32_t>(sums[0]);
#pragma unroll
    for (int t = 0; t < kCodeTensors; ++t) tensors[t] = static_cast<std::int32_t>(sums[1 + t]);
    const auto address = reinterpret_cast<std::uintptr_t>(static_cast<unsigned char*>(p.out) + out);
    const std::int32_t first =
        static_cast<std::int32_t>(column * kCodes) - static_cast<std::int32_t>(address & (kCodes - 1));
    const std::int32_t left = p.strips.extent - first, begin = first < 0 ? -first : 0,
                       end = left < 0 ? 0 : (left < kCodes ? left : kCodes);
    vector = {first, ((1u << end) - 1) & ~((1u << begin) - 1), end > 0};
  }

  template <class Bits>
  __device__ __forceinline__ Bits first(const ElementwiseParams& p, int tensor) const {
    return static_cast<const Bits*>(p.tensor[tensor].data)[tensors[tensor]];
  }

  /// Starts the load of an operand's codes. Those at the end of a row, beside which nothing may be read, are
  /// loaded one by one, and packed here: what other lanes load is not moved for it.
  __device__ __forceinline__ void start(const ElementwiseParams& p, int operand, ShiftedLoad& load) const {
    const auto* const data = static_cast<const std::uint8_t*>(p.tensor[operand].data) + tensors[operand];
    load.offset = 0;
    if (p.tensor[operand].access == Access::repeated) {
      load.parts = repeated_words(*data, 1);
      return;
    }
    const auto* const codes = data + vector.first;
    const Neighbours around = neighbours(p, operand, tensors[operand] + vector.first, vector.first);
    const auto before = static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(codes) & (kWordCodes - 1));
    if (around.contain(before, before == 0 ? kCodes : kCodes + kWordCodes)) return load.start(codes);
    std::uint32_t elements[kCodes] = {};
    vector.each(codes, 1, 0, [&](int i, const std::uint8_t& code) { elements[i] = code; });
    load.parts = packed(elements);
  }

  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words& words) const {
    auto* const data = static_cast<std::uint8_t*>(p.out) + (out + vector.first);
    if (vector.is_whole()) return store_global_16_bytes(data, &words, p.streaming);
    vector.each(data, 1, 0, [&](int i, std::uint8_t& code) { code = element_of<std::uint8_t>(words, i); });
  }
};

/// numbers_of_codes() of codes that are packed.
__device__ __forceinline__ void numbers_of_words(const Words& words, const CodeScales<false, kCodes>& codes,
                                                 bool is_signed, float (&numbers)[kCodes]) {
  const std::uint32_t flip = is_signed ? 0x80808080u : 0;
  const float offset = 0x1p23f + static_cast<float>(is_signed ? codes.zero + 128 : codes.zero);
#pragma unroll
  for (int k = 0; k < kCodes / kWordCodes; ++k)
    take_code_floats(words.values[k] ^ flip, kWordCodes * k, [&](int i, std::uint32_t bits) {
      numbers[i] = (__uint_as_float(bits) - offset) * codes.scale(0);
    });
}

/// Whether all results, in steps of the output's scale, are integers that the low bits of a float hold.
__device__ __forceinline__ bool are_held(const ElementwiseParams& p,
                                         const CodeScales<false, kCodes> (&scales)[2],
                                         const CodeScales<false, kCodes>& out) {
  constexpr float kMost = 255.0f, kHeld = 0x1p21f;
  const float a = kMost * scales[0].scale(0), b = p.step[0].operands == 2 ? kMost * scales[1].scale(0) : 1.0f;
  const float limit = kHeld * out.scale(0);
  switch (p.step[0].operation) {
    case Operation::mul:
      return a * b <= limit;
    case Operation::add:
    case Operation::sub:
    case Operation::maximum:
    case Operation::minimum:
    case Operation::relu:
    case Operation::hardswish:
      return a + b <= limit;
    default:
      return false;
  }
}

/// The codes of results that are held: they are rounded as a number is added, and clamped as they are packed.
__device__ __forceinline__ Words saturated_codes(const float (&results)[kCodes],
                                                 const CodeScales<false, kCodes>& out, bool is_signed) {
  const float reciprocal = 1.0f / out.scale(0);
  const std::int32_t zero = out.zero - (is_signed ? 0 : 128) - static_cast<std::int32_t>(kWholeBits);
  const std::uint32_t flip = is_signed ? 0 : 0x80808080u;
  Words words;
#pragma unroll
  for (int k = 0; k < kCodes / kWordCodes; ++k) {
    std::int32_t four[kWordCodes];
#pragma unroll
    for (int i = 0; i < kWordCodes; ++i)
      four[i] =
          static_cast<std::int32_t>(__float_as_uint(fmaf(results[k * kWordCodes + i], reciprocal, kWhole))) +
          zero;
    words.values[k] = saturated_bytes(four) ^ flip;
  }
  return words;
}

template <int kTensors, bool kBinary>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, 4) void code_vectors_kernel(const ElementwiseParams p) {
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const CodeVectorPlace<kTensors> place(p, lane);
  if (!place.vector.is_there) return;
  ShiftedLoad loads[2];
  place.start(p, 0, loads[0]);
  if (kBinary) place.start(p, 1, loads[1]);
  CodeScales<false, kCodes> scales[2], out;
  scales[0].load(p, p.codes[0], 0, place);
  if (kBinary) scales[1].load(p, p.codes[1], 1, place);
  out.load(p, p.out_codes, 2, place);
  float a[kCodes], b[kCodes] = {};
  const float c[kCodes] = {};
  numbers_of_words(loads[0].template words<1>(), scales[0], p.codes[0].is_signed, a);
  if (kBinary) numbers_of_words(loads[1].template words<1>(), scales[1], p.codes[1].is_signed, b);
  cheap_value<true>(p, p.step[0].operation, a, b, c);
  const bool folds = fold(p, scales, out), is_signed = p.out_codes.is_signed;
  if (folds && are_held(p, scales, out)) return place.store(p, saturated_codes(a, out, is_signed));
  std::uint8_t results[kCodes];
  if (folds) {
    clamped_codes(a, {1.0f / out.scale(0), out.scale(0)}, out, is_signed, results);
  } else {
    divided_codes(a, out, is_signed, results);
  }
  place.store(p, packed(results));
}

}  // namespace

void launch_code_vectors(const LaunchContext& context, const ElementwiseParams& p) {
  const auto run = [&](auto kernel) { launch_strips(context, p, "quantized", kernel); };
  const bool binary = p.step[0].operands == 2;
  if (p.tensors > kScaleTensors)
    return binary ? run(code_vectors_kernel<kZeroTensors, true>)
                  : run(code_vectors_kernel<kZeroTensors, false>);
  binary ? run(code_vectors_kernel<kScaleTensors, true>) : run(code_vectors_kernel<kScaleTensors, false>);
}

}  // namespace relayout::RELAYOUT_BACKEND
