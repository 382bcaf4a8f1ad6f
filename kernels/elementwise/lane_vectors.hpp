// Where the vectors of one lane lie: which elements of which rows of the output, and where the operands' rows
// begin. For kernels on small nests (32-bit offsets), whose lanes make a few vectors each. What is the same
// for all vectors is decided once, outside of the loops over them: a decision for each would take more
// instructions than the operation.
#pragma once

#include <cstdint>

#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Where a row begins in the output and in the tensors, in elements from their data.
struct alignas(16) RowOffsets {
  std::int32_t out = 0, tensors[kMaxTypedTensors] = {};

  __device__ __forceinline__ void add(const ElementwiseParams& p, int axis, std::int32_t index) {
    out += index * static_cast<std::int32_t>(p.out_strides[axis]);
#pragma unroll
    for (int t = 0; t < kMaxTypedTensors; ++t)
      tensors[t] += index * static_cast<std::int32_t>(p.tensor[t].strides[axis]);
  }
};

/// The rows of a block's vectors. With more than two axes one lane splits a row's number for all vectors in
/// it: that takes a division for each axis, which would cost many short rows more time than their elements.
class BlockRows {
 public:
  /// All lanes of the block take part. `vector` is the block's first, and `table` has room for p.block_rows
  /// in shared memory.
  __device__ __forceinline__ BlockRows(const ElementwiseParams& p, std::uint32_t vector, RowOffsets* table)
      : table_(table) {
    if (p.rank <= 2) return;
    first_ = split(vector, p.row_divisor);
    for (int i = static_cast<int>(threadIdx.x); i < p.block_rows; i += static_cast<int>(blockDim.x)) {
      std::uint32_t row = first_ + static_cast<std::uint32_t>(i);
      RowOffsets offsets;
#pragma unroll 1
      for (int axis = p.rank - 2; axis > 0; --axis) {
        std::uint32_t index = row;
        row = split(index, p.axes[axis].extent);
        offsets.add(p, axis, static_cast<std::int32_t>(index));
      }
      offsets.add(p, 0, static_cast<std::int32_t>(row));
      table_[i] = offsets;
    }
    __syncthreads();
  }

  /// Returns a vector's row, for nests of more than two axes. `vector` becomes its place in the row.
  __device__ __forceinline__ const RowOffsets& of(const ElementwiseParams& p, std::uint32_t& vector) const {
    return table_[split(vector, p.row_divisor) - first_];
  }

 private:
  RowOffsets* table_;
  std::uint32_t first_ = 0;
};

/// Launches a kernel with BlockRows, whose blocks have so many vectors and threads.
template <class Kernel>
void launch_block_rows(const char* name, const LaunchContext& context, const ElementwiseParams& p,
                       std::int64_t vectors, int threads, Kernel kernel) {
  const auto start = [&](const ElementwiseParams& placed) {
    launch(name, context,
           launch_shape(divide_up(p.vectors, vectors), threads, placed.block_rows * sizeof(RowOffsets)),
           kernel, placed);
  };
  if (p.rank <= 2) return start(p);  // as most nests: a copy of all parameters is 4 KB
  ElementwiseParams placed = p;
  placed.block_rows = static_cast<std::int32_t>((vectors - 1) / p.row_vectors + 2);
  start(placed);
}

/// The vectors of one lane; R is the output's element. A lane for which there are not so many has its first
/// one again. Lanes behind the last vector have empty ones; where an address must be readable, they have that
/// of the last one.
template <class R, int kWidth, int kVectors>
struct LaneVectors {
  std::int32_t length;           // of every row
  bool whole = true;             // all vectors lie inside their rows
  std::int32_t first[kVectors];  // element of a vector in its row; below 0 where the row begins behind it
  RowOffsets rows[kVectors];

  /// `vector` is the lane's first; the others follow at a distance of as many vectors as the block has lanes.
  __device__ __forceinline__ LaneVectors(const ElementwiseParams& p, const BlockRows& block,
                                         std::uint32_t vector)
      : length(static_cast<std::int32_t>(p.extents[p.rank - 1])) {
    const auto vectors = static_cast<std::uint32_t>(p.vectors);
    std::uint32_t columns[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const std::uint32_t number = vector + v * blockDim.x;
      columns[v] = number < vectors ? number : vector < vectors ? vector : vectors - 1;
    }
    find_rows(p, block, columns);
    find_first(p, columns);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (vector >= vectors) first[v] = length;
      whole = whole && first[v] >= 0 && first[v] <= length - kWidth;
    }
  }

  /// Whether element i of vector v lies in its row.
  __device__ __forceinline__ bool has(int v, int i) const {
    return static_cast<std::uint32_t>(first[v] + i) < static_cast<std::uint32_t>(length);
  }

  __device__ __forceinline__ Span span(int v) const {
    const int left = length - first[v];
    return {first[v], first[v] < 0 ? -first[v] : 0, left < kWidth ? left : kWidth, length};
  }

 private:
  /// `columns` are the numbers of vectors, and become their places in their rows.
  __device__ __forceinline__ void find_rows(const ElementwiseParams& p, const BlockRows& block,
                                            std::uint32_t (&columns)[kVectors]) {
    if (p.rank == 1) return;
    if (p.rank == 2) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        rows[v].add(p, 0, static_cast<std::int32_t>(split(columns[v], p.row_divisor)));
      return;
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) rows[v] = block.of(p, columns[v]);
  }

  __device__ __forceinline__ void find_first(const ElementwiseParams& p,
                                             const std::uint32_t (&columns)[kVectors]) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      first[v] = static_cast<std::int32_t>(columns[v] * kWidth) - p.misaligned_elements;
    if (p.rows_alike) return;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto row = reinterpret_cast<std::uintptr_t>(static_cast<R*>(p.out) + rows[v].out);
      first[v] += p.misaligned_elements - (static_cast<std::int32_t>(row / sizeof(R)) & (kWidth - 1));
    }
  }
};

/// Stores the lane's vectors; `results` has a vector of R for each. Those at the ends of rows go element by
/// element, without a loop, whose steps would wait for each other.
template <class R, int kWidth, int kVectors>
__device__ __forceinline__ void store_vectors(const ElementwiseParams& p,
                                              const LaneVectors<R, kWidth, kVectors>& lane,
                                              const Words (&results)[kVectors]) {
  constexpr int kBytes = kWidth * static_cast<int>(sizeof(R));
  const auto address_of = [&](int v) {
    return reinterpret_cast<unsigned char*>(static_cast<R*>(p.out) + (lane.rows[v].out + lane.first[v]));
  };
  if (!lane.whole) {
    using Bits = BitsOf<R>;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i)
        if (lane.has(v, i)) reinterpret_cast<Bits*>(address_of(v))[i] = element_of<Bits>(results[v], i);
    }
    return;
  }
  if constexpr (kBytes < 16) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      store_any(address_of(v), kBytes,
                results[v].values[0] | static_cast<std::uint64_t>(results[v].values[1]) << 32);
  } else if (p.streaming) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) store_global_16_bytes(address_of(v), &results[v], true);
  } else {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) store_global_16_bytes(address_of(v), &results[v], false);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
