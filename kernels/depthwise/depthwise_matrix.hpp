// What the depthwise kernels by matrix units share: more than 8 taps on elements of 16 bits.
//
// The kMatrixTile = 256 outputs of a tile are those of neighbouring times of one channel. Output 16 m + n is
// the product of two rows of kDepth numbers:
//   samples[m][d] = x[first + 16 m + d], where `first` lies `shift` samples before the oldest one that the
//   tile's first output meets,
//   weights[n][d] = w[d - n - shift], oldest tap first, and 0 where there is no such tap.
// Rows of samples overlap in memory and are read where they are. Those of weights overlap in a line of shared
// memory, the taps between zeros.
//
// A sum has an order of its own, so its last bits are not those of sum_over_taps(). Where a sample is
// infinite or NaN, its product with a 0 is NaN in sums that it has no part in: a tile with such a sum is
// computed again, tap by tap.
#pragma once

#include <type_traits>

#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_time.hpp"
#include "matrix_unit.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Rows and columns of the matrix unit.
constexpr int kMatrixSide = 16;
static_assert(kMatrixTile == kMatrixSide * kMatrixSide);

/// 16 rows of samples, for MatrixUnit::load().
template <class T>
struct PackRows {
  const T* first;
  __device__ __forceinline__ const T* at(int row, int pack) const {
    return first + row * kMatrixSide + pack * kMatrixPack;
  }
};

/// Fills lines of weights with a block's kThreads: of each channel its taps between zeros, and behind them
/// the same one element earlier, so that a row of the matrix unit begins with a word of one of the two.
template <int kDepth, int kThreads, class T>
__device__ __forceinline__ void fill_weight_lines(const DepthwiseParams& p, std::int64_t first_channel,
                                                  int channels, const Divisor& by_taps, T* lines) {
  constexpr int kLine = matrix_line(kDepth);
  const int thread = static_cast<int>(threadIdx.x), taps = static_cast<int>(p.taps);
  constexpr Words kZeros{};
#pragma unroll 1
  for (int pack = thread; pack < channels * 2 * kLine / kMatrixPack; pack += kThreads)
    store_16_bytes(lines + pack * kMatrixPack, &kZeros);
  __syncthreads();
  const T* const weights = static_cast<const T*>(p.weights) + first_channel * p.weight_channel;
#pragma unroll 4
  for (int number = thread; number < channels * taps; number += kThreads) {
    std::uint32_t tap = static_cast<std::uint32_t>(number);
    const auto channel = static_cast<int>(split(tap, by_taps));
    T* const at = lines + channel * 2 * kLine + kMatrixZeros + static_cast<int>(tap);
    at[0] = at[kLine - 1] = weights[channel * p.weight_channel + tap * p.weight_tap];
  }
}
/// 8 of those numbers, on a boundary of 4 bytes.
template <class T>
struct WordAlignedPack {
  const T* first;
};
/// The load of MatrixUnit::load().
template <class T>
__device__ __forceinline__ void load_16_bytes(void* registers, const WordAlignedPack<T>& pack) {
  std::uint32_t words[kPackWords];
#pragma unroll
  for (int i = 0; i < kPackWords; ++i) words[i] = reinterpret_cast<const std::uint32_t*>(pack.first)[i];
  memcpy(registers, words, sizeof(words));
}
/// 16 rows of weights, for MatrixUnit::load(), as the first operand or (kAreColumns) as the second one: row n
/// is that of output place(n) of 16. `line`: the number of the channel's line with which a row would begin
/// whose output has kMatrixZeros zeros before its taps; `shift`: odd where it does not lie on a boundary of 4
/// bytes.
template <class Unit, class T, int kLine, bool kAreColumns>
struct WeightRows {
  const T* line;
  int shift;
  static __device__ __forceinline__ int place(int row) {
    return kAreColumns ? Unit::column_place(row) : Unit::row_place(row);
  }
  __device__ __forceinline__ WordAlignedPack<T> at(int row, int pack) const {
    // The line one element earlier has odd elements where the other one has words.
    const int odd = (place(row) + shift) & 1;
    return {line + kMatrixZeros - place(row) + odd * (kLine - 1) + pack * kMatrixPack};
  }
};

/// The results of a tile whose samples lie in shared memory, tap by tap. They may take the samples' place:
/// those that later outputs need lie behind them.
template <int W, class T>
__device__ __forceinline__ void sum_by_taps(const DepthwiseParams& p, int shift, const T* samples,
                                            const T* line, float bias, T* results) {
  const int taps = static_cast<int>(p.taps);
#pragma unroll 1
  for (int i = lane_id<W>(); i < kMatrixTile; i += W) {
    float sum = 0.0f;
#pragma unroll 1
    for (int tap = taps - 1; tap >= 0; --tap)
      sum = fmaf(convert<float>(line[kMatrixZeros + tap]), convert<float>(samples[shift + tap + i]), sum);
    warp_barrier<W>();
    results[i] = finish<T>(sum, bias, p.silu);
  }
}

/// Whether the lanes' sums of a tile are all finite.
template <int W, int Count>
__device__ __forceinline__ bool are_finite(const float (&sums)[Count]) {
  float zero = 0.0f;
#pragma unroll
  for (const float sum : sums) zero = fmaf(sum, 0.0f, zero);
  return warp_ballot<W>(zero != 0.0f) == 0;
}

/// Calls visit(TypeTag<T>, warp_size, steps), the last two constants, for a plan of so many steps.
template <class Visit>
void visit_matrix_instance(const DepthwiseParams& p, int steps, Visit&& visit) {
  const auto with_steps = [&](auto type, auto warp_size) {
    if (steps == 1) return visit(type, warp_size, std::integral_constant<int, 1>{});
    if (steps == 2) return visit(type, warp_size, std::integral_constant<int, 2>{});
    return visit(type, warp_size, std::integral_constant<int, kMaxMatrixSteps>{});
  };
  const auto with_type = [&](auto type) {
    if (p.warp_size == 32) return with_steps(type, std::integral_constant<int, 32>{});
    if constexpr (kHasWarpsOf64) return with_steps(type, std::integral_constant<int, 64>{});
  };
  p.type == DType::f16 ? with_type(TypeTag<f16>{}) : with_type(TypeTag<bf16>{});
}

}  // namespace relayout::RELAYOUT_BACKEND
