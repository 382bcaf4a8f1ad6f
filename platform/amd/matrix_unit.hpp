// MatrixUnit: a wavefront's products of 16 x 32 by 32 x 16 elements of 16 bits with fp32 sums.
//
// Both operands are 16 rows of 32 elements (depth), of which a lane holds packs of 8 neighbours: pack p of
// row r is at 16-byte aligned rows.at(r, p), 0 <= p < 4. The order in which an instruction goes through the
// depth is free as long as both operands share it, so that 16 bytes a lane need no shuffling.
#pragma once

#include "platform/plain_matrix_unit.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Elsewhere, and for 32 lanes: without the matrix instructions.
template <int W, class T>
struct MatrixUnit : PlainMatrixUnit<W, T> {};

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
typedef float FourSums __attribute__((ext_vector_type(4)));
typedef _Float16 FourHalves __attribute__((ext_vector_type(4)));
typedef short FourBfloats __attribute__((ext_vector_type(4)));

__device__ __forceinline__ FourSums multiply_16x16x16(f16, const std::uint32_t* a, const std::uint32_t* b,
                                                      FourSums sums) {
  FourHalves left, right;
  memcpy(&left, a, 8);
  memcpy(&right, b, 8);
  return __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sums, 0, 0, 0);
}
__device__ __forceinline__ FourSums multiply_16x16x16(bf16, const std::uint32_t* a, const std::uint32_t* b,
                                                      FourSums sums) {
  FourBfloats left, right;
  memcpy(&left, a, 8);
  memcpy(&right, b, 8);
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, sums, 0, 0, 0);
}

template <class T>
struct MatrixUnit<64, T> : SumPlaces<64> {
  /// How many operands a kernel had better load before it multiplies.
  static constexpr int kAhead = 4;

  /// In the place of those of SumPlaces: a lane's four values lie in one column.
  static constexpr int kColumnRun = 4;
  static __device__ __forceinline__ int row_of(int i) { return lane_id<64>() / 16 * 4 + i; }
  static __device__ __forceinline__ int column_of(int) { return lane_id<64>() % 16; }
  static __device__ __forceinline__ int run_value(int, int i) { return i; }
  struct Sums {
    float values[4] = {};
  };

  /// Four lanes share a row.
  struct Registers {
    std::uint32_t words[4];
  };
  template <class Rows>
  using Operand = Registers;

  template <class Rows>
  static __device__ __forceinline__ Registers load(const Rows& rows) {
    Registers registers;
    load_16_bytes(registers.words, rows.at(lane_id<64>() % 16, lane_id<64>() / 16));
    return registers;
  }

  /// sums += a * b^T.
  static __device__ __forceinline__ void multiply(const Registers& a, const Registers& b, Sums& sums) {
    FourSums four;
    memcpy(&four, sums.values, 16);
    four = multiply_16x16x16(T{}, a.words, b.words, four);
    four = multiply_16x16x16(T{}, a.words + 2, b.words + 2, four);
    memcpy(sums.values, &four, 16);
  }
};
#endif

}  // namespace relayout::RELAYOUT_BACKEND
