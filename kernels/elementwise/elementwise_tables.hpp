// The element-wise kernel for tensors that lie in no vectors: rows from any address, strided, across the
// output's, shorter than a vector. A block takes the elements of some inner positions, the output's last
// axes, in some rows of the other axes. Tables in shared memory say how far each position and each row lies
// from where a tensor begins, so that an element takes an addition for its place, however many axes there
// are.
//
// Neighbouring lanes make neighbouring positions, so that what lies in one piece, in the output or in an
// operand, is moved in whole sectors at any address. A lane makes a few rows of its position, whose loads do
// not wait for each other; rows follow each other as they lie in an operand that is fastest across the
// output's rows, so that the sectors which it shares between rows are read while they are in the cache.
#pragma once

#include "kernels/elementwise/program_steps.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The tables: for each of the block's rows how many of the positions it has; for the output and then for
/// each tensor the offsets of the rows; then, likewise, those of the positions. Offsets are modulo 2^32:
/// those of positions that a row does not have may lie beyond 2^31.
class OffsetTables {
 public:
  __device__ __forceinline__ OffsetTables(const ElementwiseParams& p, std::uint32_t* memory)
      : limits_(memory), rows_(memory + p.block_rows), positions_(rows_ + (p.tensors + 1) * p.block_rows) {}

  /// All lanes of the block take part. first: the block's first row; behind the last one there are no
  /// positions.
  __device__ __forceinline__ void fill(const ElementwiseParams& p, std::uint32_t first) {
    const int row_axes = p.rank - p.position_axes;
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    for (std::int32_t i = lane; i < p.block_positions; i += kElementwiseThreads)
      add_axes(p, positions_ + i, p.block_positions, p.rank, row_axes, static_cast<std::uint32_t>(i));
    for (std::int32_t i = lane; i < p.block_rows; i += kElementwiseThreads) {
      const std::uint32_t row = first + static_cast<std::uint32_t>(i);
      const std::uint32_t chunk = add_axes(p, rows_ + i, p.block_rows, row_axes, 0, row);
      const std::uint32_t left = p.divided_extent - chunk * p.chunk;
      limits_[i] = row >= p.rows ? 0 : (left < p.chunk ? left : p.chunk) * p.chunk_positions;
    }
    __syncthreads();
  }

  /// Which of `row` and the next ones have the position: bit by bit.
  template <int kRows>
  __device__ __forceinline__ std::uint32_t present(std::int32_t position, std::int32_t row) const {
    const Numbers<kRows> limits = numbers<kRows>(limits_ + row);
    std::uint32_t bits = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      bits |= static_cast<std::uint32_t>(position) < limits.values[r] ? 1u << r : 0u;
    return bits;
  }

  /// How far `row` and the next ones of a position lie from where tensor `number` begins, the output being 0.
  template <int kRows>
  __device__ __forceinline__ void offsets(const ElementwiseParams& p, int number, std::int32_t position,
                                          std::int32_t row, std::int32_t (&offsets)[kRows]) const {
    const std::uint32_t offset = positions_[number * p.block_positions + position];
    const Numbers<kRows> rows = numbers<kRows>(rows_ + number * p.block_rows + row);
#pragma unroll
    for (int r = 0; r < kRows; ++r) offsets[r] = static_cast<std::int32_t>(offset + rows.values[r]);
  }

 private:
  /// What the tables have for the rows that a lane makes; the first row is a multiple of their number.
  template <int kRows>
  struct alignas(4 * kRows) Numbers {
    std::uint32_t values[kRows];
  };
  template <int kRows>
  static __device__ __forceinline__ Numbers<kRows> numbers(const std::uint32_t* table) {
    return *reinterpret_cast<const Numbers<kRows>*>(table);
  }

  /// Sets a column of a table, `step` numbers from one tensor to the next, to the offsets of an index of axes
  /// [begin, end). Returns the index of the chunk among them, 0 without one.
  static __device__ __forceinline__ std::uint32_t add_axes(const ElementwiseParams& p, std::uint32_t* column,
                                                           std::int32_t step, int end, int begin,
                                                           std::uint32_t rest) {
#pragma unroll 1
    for (int t = 0; t <= p.tensors; ++t) column[t * step] = 0;
    std::uint32_t chunk = 0;
#pragma unroll 1
    for (int axis = end - 1; axis >= begin; --axis) {
      std::uint32_t index = rest;
      rest = split(index, p.divisors[axis]);
      if (axis == p.chunk_axis) chunk = index;
      column[0] += index * static_cast<std::uint32_t>(p.out_strides[axis]);
#pragma unroll 1
      for (int t = 0; t < p.tensors; ++t)
        column[(t + 1) * step] += index * static_cast<std::uint32_t>(p.tensor[t].strides[axis]);
    }
    return chunk;
  }

  std::uint32_t *limits_, *rows_, *positions_;
};

/// A position in a few rows.
struct TablePlace {
  const OffsetTables& tables;
  std::int32_t position, row;
  std::uint32_t present;  // in which of the rows it is: bit by bit

  template <int kRows>
  __device__ __forceinline__ Words load(const ElementwiseParams& p, int number) const {
    const TensorOperand& tensor = p.tensor[number];
    std::int32_t offsets[kRows];
    tables.offsets(p, number + 1, position, row, offsets);
    Words words{};
    visit_fitting_sizes<kRows>(tensor.bytes, [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      const Bits* const data = static_cast<const Bits*>(tensor.data);
      Bits elements[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) elements[r] = (present >> r & 1) != 0 ? data[offsets[r]] : Bits{0};
#pragma unroll
      for (int r = 0; r < kRows; ++r) put_element(words, r, elements[r]);
    });
    return words;
  }

  template <int kRows>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words& words) const {
    std::int32_t offsets[kRows];
    tables.offsets(p, 0, position, row, offsets);
    visit_fitting_sizes<kRows>(p.out_bytes, [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      Bits* const data = static_cast<Bits*>(p.out);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if ((present >> r & 1) != 0) data[offsets[r]] = element_of<Bits>(words, r);
      }
    });
  }
};

template <class C, int kRows, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads,
                                  2) void tables_program_kernel(const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(Words, memory);
  OffsetTables tables(p, reinterpret_cast<std::uint32_t*>(memory));
  tables.fill(p, static_cast<std::uint32_t>(blockIdx.x) * static_cast<std::uint32_t>(p.block_rows));
  const std::int32_t items = p.block_rows / kRows * p.block_positions;
  for (std::int32_t item = static_cast<std::int32_t>(threadIdx.x); item < items;
       item += kElementwiseThreads) {
    std::uint32_t rest = static_cast<std::uint32_t>(item);
    const std::int32_t row = static_cast<std::int32_t>(split(rest, p.position_divisor)) * kRows;
    const auto position = static_cast<std::int32_t>(rest);
    const TablePlace place{tables, position, row, tables.present<kRows>(position, row)};
    if (place.present == 0) continue;
    place.template store<kRows>(p, run_program<C, kRows, kSteps>(p, place));
  }
}

template <class C, int kRows, Steps kSteps>
void launch_tables_on(const LaunchContext& context, const ElementwiseParams& p) {
  LaunchShape shape;
  shape.blocks_x = p.blocks;
  shape.threads_x = kElementwiseThreads;
  const std::int32_t numbers = p.block_rows + (p.tensors + 1) * (p.block_rows + p.block_positions);
  shape.shared_bytes = static_cast<std::size_t>(numbers) * sizeof(std::uint32_t);
  const char* const name = p.steps > 0 ? name_of(p.step[p.steps - 1].operation) : "quantize";
  launch(name, context, shape, tables_program_kernel<C, kRows, kSteps>, p);
}

template <Steps kSteps>
void launch_tables_of(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::f32:
      if (p.width == 4) return launch_tables_on<float, 4, kSteps>(context, p);
      return launch_tables_on<float, 2, kSteps>(context, p);
    case ComputeClass::i32:
      if (p.width == 4) return launch_tables_on<std::int32_t, 4, kSteps>(context, p);
      return launch_tables_on<std::int32_t, 2, kSteps>(context, p);
    case ComputeClass::i64:
      return launch_tables_on<std::int64_t, 2, kSteps>(context, p);
    case ComputeClass::f64:
      return launch_tables_on<double, 2, kSteps>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
