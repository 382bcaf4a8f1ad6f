// Chunks of rows, element by element: neighbouring lanes have neighbouring elements, so that whole sectors
// are moved from any address and at small strides. A lane's elements lie kChunkLanes apart: once the first
// has its address, the others take no instruction for theirs. No vector has to be put together from two
// words, which costs elements of 2 bytes more instructions than there are issue slots while memory moves
// them.
#pragma once

#include "core/elementwise_chunks.hpp"
#include "core/integer_math.hpp"
#include "kernels/elementwise/lane_vectors.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// What a lane has of a chunk: number i of kElements is element `first + i * kChunkLanes` of the row.
template <int kElements>
struct ChunkSpan {
  std::int32_t first = 0;
  std::int32_t left = 0;  // elements of the row from `first` on; none for lanes without a chunk
  bool whole = false;     // the lane has all its elements

  __device__ __forceinline__ void set(const ElementwiseParams& p, std::uint32_t column) {
    first = static_cast<std::int32_t>(column * (kElements * kChunkLanes) + threadIdx.x % kChunkLanes);
    left = static_cast<std::int32_t>(p.extents[p.rank - 1]) - first;
    whole = left > (kElements - 1) * kChunkLanes;
  }
  __device__ __forceinline__ bool has(int i) const { return i * kChunkLanes < left; }

  /// The lane's elements of a row that begins at `row`, as numbers of their size or larger ones. Those that
  /// it does not have are left alone.
  template <class Bits, class Number>
  __device__ __forceinline__ void load(const Bits* row, std::int32_t stride,
                                       Number (&elements)[kElements]) const {
    row += std::int64_t{first} * stride;
    if (whole && stride == 1) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) elements[i] = row[i * kChunkLanes];
    } else {
      const std::int32_t step = stride * kChunkLanes;
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        if (has(i)) elements[i] = row[i * step];
      }
    }
  }

  /// Calls store(i, address) for the lane's elements of a contiguous row.
  template <class Bits, class Store>
  __device__ __forceinline__ void each(Bits* row, Store&& store) const {
    row += first;
    if (whole) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) store(i, row[i * kChunkLanes]);
    } else {
#pragma unroll
      for (int i = 0; i < kElements; ++i)
        if (has(i)) store(i, row[i * kChunkLanes]);
    }
  }
};

/// A chunk of a row, with p.row_vectors chunks to a row.
template <int kElements>
struct RowChunk : ChunkSpan<kElements> {
  RowOffsets row;

  /// All lanes of the block take part. `table` has room for p.block_rows in shared memory.
  __device__ __forceinline__ RowChunk(const ElementwiseParams& p, RowOffsets* table) {
    const auto first_chunk = static_cast<std::uint32_t>(blockIdx.x * (blockDim.x / kChunkLanes));
    const BlockRows rows(p, first_chunk, table);
    std::uint32_t column = first_chunk + threadIdx.x / kChunkLanes;
    if (column >= static_cast<std::uint32_t>(p.vectors)) return;
    if (p.rank == 2) {
      row.add(p, 0, static_cast<std::int32_t>(split(column, p.row_divisor)));
    } else if (p.rank > 2) {
      row = rows.of(p, column);
    }
    this->set(p, column);
  }
};

/// A vector of one element, as often as there are vectors.
template <class Bits, int kVectors>
__device__ __forceinline__ void repeat_element(Bits element, Words (&words)[kVectors]) {
  const Words repeated = repeated_words(element, sizeof(Bits));
#pragma unroll
  for (Words& vector : words) vector = repeated;
}

/// Starts the loads of the lane's elements of tensor t; of a repeated one, of `repeated` alone. Those that it
/// does not have are left alone. Each has a branch of its own: from the two sides of one, AMD's compiler
/// would choose between their addresses, and so keep them in memory of each lane.
template <class Bits, int kElements>
__device__ __forceinline__ void start_chunk(const ElementwiseParams& p, int t,
                                            const RowChunk<kElements>& chunk, Bits (&elements)[kElements],
                                            Bits& repeated) {
  const TensorOperand& tensor = p.tensor[t];
  const Bits* data = static_cast<const Bits*>(tensor.data) + chunk.row.tensors[t];
  const bool is_repeated = tensor.access == Access::repeated;
  if (is_repeated && chunk.left > 0) repeated = *data;
  if (!is_repeated) chunk.load(data, static_cast<std::int32_t>(tensor.strides[p.rank - 1]), elements);
}

/// Loads the lane's elements of tensor t, packed into vectors of kWidth. `missing` stands for those that it
/// does not have.
template <class Bits, int kWidth, int kVectors>
__device__ __forceinline__ void load_chunk(const ElementwiseParams& p, int t,
                                           const RowChunk<kWidth * kVectors>& chunk, Words (&words)[kVectors],
                                           Bits missing = 0) {
  const TensorOperand& tensor = p.tensor[t];
  const Bits* data = static_cast<const Bits*>(tensor.data) + chunk.row.tensors[t];
  if (tensor.access == Access::repeated) return repeat_element(chunk.left > 0 ? *data : missing, words);
  Bits elements[kWidth * kVectors];
#pragma unroll
  for (Bits& element : elements) element = missing;
  chunk.load(data, static_cast<std::int32_t>(tensor.strides[p.rank - 1]), elements);
  pack_elements(elements, words);
}

/// Stores the results to the output, whose rows are contiguous.
template <class Bits, int kWidth, int kVectors>
__device__ __forceinline__ void store_chunk(const ElementwiseParams& p,
                                            const RowChunk<kWidth * kVectors>& chunk,
                                            const Words (&words)[kVectors]) {
  chunk.each(static_cast<Bits*>(p.out) + chunk.row.out,
             [&](int i, Bits& element) { element = element_of<Bits>(words[i / kWidth], i % kWidth); });
}

/// The launch of a kernel whose lanes have kElements elements each.
template <class Kernel>
void launch_chunks(const LaunchContext& context, const ElementwiseParams& p, Kernel kernel) {
  launch_block_rows(name_of(p.step[0].operation), context, p, p.block_threads / kChunkLanes, p.block_threads,
                    kernel);
}

}  // namespace relayout::RELAYOUT_BACKEND
