// MatrixUnit: a warp's products of 16 x 32 by 32 x 16 elements of 16 bits with fp32 sums.
//
// Both operands are 16 rows of 32 elements (depth), of which a lane holds packs of 8 neighbours: pack p of
// row r is at 16-byte aligned rows.at(r, p), 0 <= p < 4. The order in which an instruction goes through the
// depth is free as long as both operands share it, so that 16 bytes a lane need no shuffling.
#pragma once

#include "platform/plain_matrix_unit.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// sums += a 16 x 16 by b^T 16 x 8.
__device__ __forceinline__ void multiply_16x8x16(f16, const std::uint32_t (&a)[4],
                                                 const std::uint32_t (&b)[2], float* sums) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void multiply_16x8x16(bf16, const std::uint32_t (&a)[4],
                                                 const std::uint32_t (&b)[2], float* sums) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <int W, class T>
struct MatrixUnit : SumPlaces<W> {
  static_assert(W == 32, "a CUDA warp has 32 lanes");
  /// How many operands a kernel had better load before it multiplies.
  static constexpr int kAhead = 4;

  struct Sums {
    float values[8] = {};
  };
  /// Four lanes share a row and the one 8 below it.
  struct Registers {
    std::uint32_t words[2][4];
  };
  template <class Rows>
  using Operand = Registers;

  template <class Rows>
  static __device__ __forceinline__ Registers load(const Rows& rows) {
    const int row = lane_id<W>() / 4, pack = lane_id<W>() % 4;
    Registers registers;
    load_16_bytes(registers.words[0], rows.at(row, pack));
    load_16_bytes(registers.words[1], rows.at(row + 8, pack));
    return registers;
  }

  /// sums += a * b^T.
  static __device__ __forceinline__ void multiply(const Registers& a, const Registers& b, Sums& sums) {
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      const std::uint32_t rows[4] = {a.words[0][k], a.words[1][k], a.words[0][k + 1], a.words[1][k + 1]};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t columns[2] = {b.words[half][k], b.words[half][k + 1]};
        multiply_16x8x16(T{}, rows, columns, sums.values + 4 * half);
      }
    }
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
