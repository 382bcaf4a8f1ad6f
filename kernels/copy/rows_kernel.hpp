// rows: out[i] = cast(in[i]) where the output consists of runs. A lane makes one vector of a run at a time,
// from wherever its elements lie in the input. A block first computes where the rows lie that it needs, into
// shared memory. The elements themselves do not pass through it: neighbouring lanes make neighbouring
// vectors, so the cache of the multiprocessor joins their reads.
//
// Global traffic: each element of the output once, in whole vectors but for the ends of runs; the sectors of
// the input that the elements lie in, each about once.
#pragma once

#include "core/copy_params.hpp"
#include "core/integer_math.hpp"
#include "kernels/copy/cast_table.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/copy/rows_piece.hpp"
#include "kernels/divide.hpp"
#include "kernels/vector.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// An output vector. Its elements [begin, end) exist.
struct RowsVector {
  unsigned char* address;  // a multiple of the vector's bytes
  std::uint32_t row;       // of the block's table: the row of the first element
  std::int64_t column;     // of the vector's first place in this row: negative in front of a run
  int begin, end;          // 0 and 0 where there is none
};

/// The block's first row: that of its first vector, or one of those in front of it.
template <int kCount>
__device__ __forceinline__ std::uint32_t first_row(const RowsParams& p, std::uint32_t number) {
  std::uint32_t run = 0;
  if (p.outer_rank > 0) run = split(number, p.run_vectors);
  // How far the run's first vector lies in front of the run is not known here.
  std::uint32_t element = number > 0 ? number * kCount - (kCount - 1) : 0;
  return run * p.run_rows + split(element, p.axes[p.rank - 1].extent);
}

/// Where rows of the input begin, in bytes from its first element.
__device__ __forceinline__ void fill_table(const RowsParams& p, std::uint32_t first, std::int64_t* table) {
  for (std::uint32_t i = threadIdx.x; i < p.table_rows && first + i < p.rows; i += kRowsThreads) {
    std::uint32_t index = first + i;
    std::int64_t offset = 0;
#pragma unroll 1
    for (int axis = p.rank - 2; axis > 0; --axis) {
      const std::uint32_t outer = split(index, p.axes[axis].extent);
      offset += index * p.axes[axis].in;
      index = outer;
    }
    table[i] = offset + index * p.axes[0].in;
  }
}

template <class To, int kCount>
__device__ __forceinline__ RowsVector rows_vector(const RowsParams& p, unsigned char* out,
                                                  std::uint32_t number, std::uint32_t first) {
  constexpr auto kBytes = static_cast<std::int64_t>(kCount * sizeof(To));
  if (number >= p.vectors) return {out, 0, 0, 0, 0};
  std::uint32_t row = 0;
  if (p.outer_rank > 0) {
    std::uint32_t run = split(number, p.run_vectors);
    row = run * p.run_rows;
#pragma unroll 1
    for (int axis = p.outer_rank - 1; axis >= 0; --axis) {
      const std::uint32_t outer = split(run, p.axes[axis].extent);
      out += run * p.axes[axis].out;
      run = outer;
    }
  }
  const auto before = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % kBytes / sizeof(To));
  const std::int64_t element = static_cast<std::int64_t>(number) * kCount - before;
  const std::int64_t left = p.run_elements - element;
  const int begin = element < 0 ? before : 0, end = left < kCount ? static_cast<int>(left) : kCount;
  unsigned char* address = out + element * static_cast<std::int64_t>(sizeof(To));
  if (p.rank == 1) return {address, 0, element, begin, end > begin ? end : begin};
  std::int64_t column = element;
  if (element > 0) {
    auto rest = static_cast<std::uint32_t>(element);
    row += split(rest, p.axes[p.rank - 1].extent);
    column = rest;
  }
  return {address, row - first, column, begin, end > begin ? end : begin};
}

/// The elements of a vector one by one.
template <class T, int kCount>
struct RowsElements {
  static constexpr int kVectors = rows_vectors_per_thread(RowsRead::elements);
  T values[kCount];

  __device__ __forceinline__ void start(const RowsParams& p, const unsigned char* in,
                                        const std::int64_t* table, const RowsVector& vector) {
    if (vector.end - vector.begin == kCount) {
      read<true>(p, in, table, vector);
    } else {
      read<false>(p, in, table, vector);
    }
  }
  __device__ __forceinline__ Vector<T, kCount> vector() const {
    Vector<T, kCount> result;
#pragma unroll
    for (int i = 0; i < kCount; ++i) result.values[i] = values[i];
    return result;
  }

 private:
  template <bool kWhole>
  __device__ __forceinline__ void read(const RowsParams& p, const unsigned char* in,
                                       const std::int64_t* table, const RowsVector& vector) {
    const unsigned char* address = in + table[vector.row] + vector.column * p.in_step;
    std::uint32_t row = vector.row;
    std::int64_t left = p.row_elements - vector.column;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = T{0};
      if (kWhole || (i >= vector.begin && i < vector.end)) values[i] = *reinterpret_cast<const T*>(address);
      address += p.in_step;
      if (--left == 0 && i + 1 < (kWhole ? kCount : vector.end)) {
        address = in + table[++row];
        left = p.row_elements;
      }
    }
  }
};

/// The elements of a vector as two pieces of the input at most; rows are as long as a vector or longer.
template <class T, int kCount>
struct RowsPieces {
  static constexpr int kVectors = rows_vectors_per_thread(RowsRead::pieces);
  static constexpr int kSize = static_cast<int>(sizeof(T)), kBytes = kCount * kSize;
  using Piece = RowsPiece<kBytes, kSize>;
  Piece first, second;
  int split_at;  // the first byte of the second piece; kBytes where there is none

  __device__ __forceinline__ void start(const RowsParams& p, const unsigned char* in,
                                        const std::int64_t* table, const RowsVector& vector) {
    const std::int64_t left = p.row_elements - vector.column;
    const int at = left < vector.end ? static_cast<int>(left) : kCount;
    // Where the vector's first byte would lie if the whole vector belonged to the piece.
    const unsigned char* address = in + table[vector.row] + vector.column * kSize;
    const unsigned char* other = address;
    if (at < kCount) other = in + table[vector.row + 1] - at * kSize;
    split_at = at * kSize;
    const unsigned char *readable = in + p.in_begin, *readable_end = in + p.in_end;
    if (Piece::is_inside(address, readable, readable_end) &&
        Piece::is_inside(other, readable, readable_end)) {
      first.start(address, vector.begin * kSize, (at < kCount ? at : vector.end) * kSize);
      if (at < kCount) second.start(other, split_at, vector.end * kSize);
      return;
    }
    // Near the ends of the input: by elements, in their places.
    std::uint32_t words[Piece::kWords] = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= vector.begin && i < vector.end)
        put_bits<T>(words, i, *reinterpret_cast<const T*>((i < at ? address : other) + i * kSize));
    }
    first.set(words);
    split_at = kBytes;
  }
  __device__ __forceinline__ Vector<T, kCount> vector() const {
    std::uint32_t words[Piece::kWords];
    first.words(words);
    if (split_at < kBytes) {
      std::uint32_t others[Piece::kWords];
      second.words(others);
#pragma unroll
      for (int i = 0; i < Piece::kWords; ++i) {
        const int bytes = split_at - 4 * i;  // of this word that belong to the first piece
        const std::uint32_t mask = bytes <= 0 ? ~0u : bytes >= 4 ? 0u : ~0u << (8 * bytes);
        words[i] = (words[i] & ~mask) | (others[i] & mask);
      }
    }
    Vector<T, kCount> result;
    memcpy(&result, words, kBytes);
    return result;
  }
};

template <class To, int kCount>
__device__ __forceinline__ void rows_store(const RowsParams& p, const RowsVector& vector,
                                           const Vector<To, kCount>& values) {
  To* address = reinterpret_cast<To*>(vector.address);
  if (vector.end - vector.begin == kCount) {
    store_vector(address, values, p.streaming);
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i >= vector.begin && i < vector.end) address[i] = values.values[i];
  }
}

/// kConvert: the types differ in more than their names.
template <class T, class To, class Load, int kCount, bool kConvert, class Params>
__global__ __launch_bounds__(kRowsThreads) void rows_kernel(const Params p) {
  RELAYOUT_DYNAMIC_SHARED(std::int64_t, table);
  const auto* in = static_cast<const unsigned char*>(input_of(p));
  auto* out = static_cast<unsigned char*>(output_of(p));
  const std::uint32_t block = blockIdx.x * (kRowsThreads * Load::kVectors);
  const std::uint32_t first = p.rank == 1 ? 0 : first_row<kCount>(p, block);
  if (p.rank == 1) {
    if (threadIdx.x == 0) table[0] = 0;
  } else {
    fill_table(p, first, table);
  }
  auto* cast_table = reinterpret_cast<unsigned char*>(table + p.table_rows);
  if constexpr (kConvert && has_cast_table<T, To>) fill_cast_table(p, cast_table);
  __syncthreads();
  RowsVector vectors[Load::kVectors];
  Load loads[Load::kVectors];
#pragma unroll
  for (int i = 0; i < Load::kVectors; ++i) {
    vectors[i] = rows_vector<To, kCount>(p, out, block + threadIdx.x + i * kRowsThreads, first);
    if (vectors[i].end > vectors[i].begin) loads[i].start(p, in, table, vectors[i]);
  }
#pragma unroll
  for (int i = 0; i < Load::kVectors; ++i) {
    if (vectors[i].end == vectors[i].begin) continue;
    if constexpr (kConvert) {
      rows_store(p, vectors[i], quick_vector_by<T, To>(cast_table, p, loads[i].vector()));
    } else {
      rows_store(p, vectors[i], loads[i].vector());
    }
  }
}

template <class T, class To, bool kConvert, class Params>
void launch_rows_of(const LaunchContext& context, const Params& p) {
  constexpr int kSize = static_cast<int>(sizeof(T)),
                kMax = 16 / static_cast<int>(sizeof(T) > sizeof(To) ? sizeof(T) : sizeof(To));
  const std::int64_t vectors = std::int64_t{kRowsThreads} * rows_vectors_per_thread(p.read),
                     table_bytes = p.table_rows * sizeof(std::int64_t);
  const LaunchShape shape = launch_shape(divide_up(p.vectors, vectors), kRowsThreads,
                                         table_bytes + (kConvert ? cast_table_bytes<T, To> : 0));
  const auto run = [&](auto kernel) { launch("copy", context, shape, kernel, p); };
  if (p.read == RowsRead::pieces) {
    if constexpr (kMax * kSize >= 4) {
      if (p.count == kMax) return run(rows_kernel<T, To, RowsPieces<T, kMax>, kMax, kConvert, Params>);
    }
  } else {
    constexpr int kCount = kMax < 8 ? kMax : 8;
    if (p.count == kCount) return run(rows_kernel<T, To, RowsElements<T, kCount>, kCount, kConvert, Params>);
  }
  throw Error(ErrorCode::launch, "copy: the rows kernel has no vectors of so many elements");
}

}  // namespace relayout::RELAYOUT_BACKEND
