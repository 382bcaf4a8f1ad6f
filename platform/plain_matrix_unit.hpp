// The matrix unit (platform/*/matrix_unit.hpp) of hardware that has none: multiply-adds of fp32. Its operands
// are the rows themselves, read when they are multiplied.
#pragma once

#include "half.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float matrix_element(f16 value) { return half_to_float(value); }
__device__ __forceinline__ float matrix_element(bf16 value) { return bfloat_to_float(value); }

/// Where the sums of a 16 x 16 lie: value i of a lane is element (row_of(i), column_of(i)).
/// Values run_value(r, 0), run_value(r, 1), ... of a lane, kColumnRun of them, lie in one column, and in
/// neighbouring rows where row r of the first operand is number row_place(r).
template <int W>
struct SumPlaces {
  static constexpr bool kHasRunsOfFour = false;
  static constexpr int kColumnRun = 1;
  static __device__ __forceinline__ int row_of(int i) { return (i * W + lane_id<W>()) / 16; }
  static __device__ __forceinline__ int column_of(int i) { return (i * W + lane_id<W>()) % 16; }
  static __device__ __forceinline__ int run_value(int run, int) { return run; }
  static __device__ __forceinline__ int row_place(int row) { return row; }
  static __device__ __forceinline__ int column_place(int column) { return column; }
};
/// As `mma` leaves them. Values 0, 1, 4 and 5 lie in one row, and so do 2, 3, 6 and 7; they are neighbours
/// where row c of the second operand is number column_place(c).
template <>
struct SumPlaces<32> {
  static constexpr bool kHasRunsOfFour = true;
  static constexpr int kColumnRun = 2;
  static __device__ __forceinline__ int row_of(int i) { return lane_id<32>() / 4 + (i & 2) * 4; }
  static __device__ __forceinline__ int column_of(int i) {
    return lane_id<32>() % 4 * 2 + (i & 1) + (i & 4) * 2;
  }
  static __device__ __forceinline__ int run_value(int run, int i) {
    return (run & 1) + (run & 2) * 2 + i * 2;
  }
  static __device__ __forceinline__ int row_place(int row) { return row % 8 * 2 + row / 8; }
  static __device__ __forceinline__ int column_place(int column) {
    return column % 8 / 2 * 4 + column / 8 * 2 + column % 2;
  }
};

template <int W, class T>
struct PlainMatrixUnit : SumPlaces<W> {
  using SumPlaces<W>::row_of;
  using SumPlaces<W>::column_of;
  static constexpr int kAhead = 1;  // an operand is read when it is multiplied

  struct Sums {
    float values[256 / W] = {};
  };
  template <class Rows>
  using Operand = Rows;

  template <class Rows>
  static __device__ __forceinline__ Rows load(const Rows& rows) {
    return rows;
  }

  template <class A, class B>
  static __device__ __forceinline__ void multiply(const A& a, const B& b, Sums& sums) {
#pragma unroll
    for (int i = 0; i < 256 / W; ++i) {
#pragma unroll 1
      for (int pack = 0; pack < 4; ++pack) {
        T left[8], right[8];
        load_16_bytes(left, a.at(row_of(i), pack));
        load_16_bytes(right, b.at(column_of(i), pack));
#pragma unroll
        for (int k = 0; k < 8; ++k)
          sums.values[i] = fmaf(matrix_element(left[k]), matrix_element(right[k]), sums.values[i]);
      }
    }
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
