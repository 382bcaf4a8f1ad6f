// The matrix unit (platform/*/matrix_unit.hpp) of hardware that has none: multiply-adds of fp32. Its operands
// are the rows themselves, read when they are multiplied.
#pragma once

#include "half.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float matrix_element(f16 value) { return half_to_float(value); }
__device__ __forceinline__ float matrix_element(bf16 value) { return bfloat_to_float(value); }

template <int W, class T>
struct PlainMatrixUnit {
  static constexpr int kAhead = 1;  // an operand is read when it is multiplied

  struct Sums {
    float values[256 / W] = {};
  };
  template <class Rows>
  using Operand = Rows;

  /// Of 32 lanes as the values of NVIDIA's units lie, so that the emulator runs what is made for those.
  static constexpr bool kHasRunsOfFour = W == 32;
  static __device__ __forceinline__ int place_of(int column) {
    return kHasRunsOfFour ? column % 8 / 2 * 4 + column / 8 * 2 + column % 2 : column;
  }
  static __device__ __forceinline__ int row_of(int i) {
    return kHasRunsOfFour ? lane_id<W>() / 4 + (i & 2) * 4 : (i * W + lane_id<W>()) / 16;
  }
  static __device__ __forceinline__ int column_of(int i) {
    return kHasRunsOfFour ? lane_id<W>() % 4 * 2 + (i & 1) + (i & 4) * 2 : (i * W + lane_id<W>()) % 16;
  }

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
