// Where the elements lie that a block makes: some inner positions, the output's last axes, in some rows of
// the other axes. Tables in shared memory say how far each position and each row lies from where a tensor
// begins, so that an element takes an addition for its place, however many axes there are.
//
// Neighbouring lanes make neighbouring positions, so that what lies in one piece, in the output or in an
// operand, is moved in whole sectors at any address. A lane makes a few rows of its position, whose loads do
// not wait for each other; rows follow each other as they lie in an operand that is fastest across the
// output's rows, so that the sectors which it shares between rows are read while they are in the cache.
#pragma once

#include "kernels/divide.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Sets a column of a table to the offsets of an index of axes [begin, end). The output's comes first, and
/// the next tensor's is `step` numbers further on. Returns the index of the chunk among them, 0 without one.
/// Offsets of kTogether tensors are counted together, in registers: most launches have no more.
__device__ __forceinline__ std::uint32_t set_offsets(const ElementwiseParams& p, std::uint32_t* column,
                                                     std::int32_t step, int end, int begin,
                                                     std::uint32_t index) {
  constexpr int kTogether = 3;
  std::uint32_t chunk = 0;
#pragma unroll 1
  for (int first = 0; first <= p.tensors; first += kTogether) {
    std::uint32_t offsets[kTogether] = {}, rest = index;
#pragma unroll 1
    for (int axis = end - 1; axis >= begin; --axis) {
      std::uint32_t along = rest;
      rest = split(along, p.divisors[axis]);
      if (axis == p.chunk_axis) chunk = along;
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int number = first + i;
        if (number <= p.tensors)
          offsets[i] += along * static_cast<std::uint32_t>(number == 0 ? p.out_strides[axis]
                                                                       : p.tensor[number - 1].strides[axis]);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i <= p.tensors) column[(first + i) * step] = offsets[i];
    }
  }
  return chunk;
}

/// The tables: for each of the block's rows how many of the positions it has, and its index along the
/// innermost axis of the rows; for the output and then for each tensor the offsets of the rows; then,
/// likewise, those of the positions. Offsets are modulo 2^32: those of positions that a row does not have may
/// lie beyond 2^31.
class OffsetTables {
 public:
  __device__ __forceinline__ OffsetTables(const ElementwiseParams& p, std::uint32_t* memory)
      : limits_(memory),
        indices_(limits_ + p.block_rows),
        rows_(indices_ + p.block_rows),
        positions_(rows_ + (p.tensors + 1) * p.block_rows) {}

  /// All lanes of the block take part. `first` is the block's first row; rows beyond the last one have no
  /// positions.
  __device__ __forceinline__ void fill(const ElementwiseParams& p, std::uint32_t first) {
    const int row_axes = p.rank - p.position_axes;
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    for (std::int32_t i = lane; i < p.block_positions; i += kElementwiseThreads)
      set_offsets(p, positions_ + i, p.block_positions, p.rank, row_axes, static_cast<std::uint32_t>(i));
    for (std::int32_t i = lane; i < p.block_rows; i += kElementwiseThreads) {
      const std::uint32_t row = first + static_cast<std::uint32_t>(i);
      const std::uint32_t chunk = set_offsets(p, rows_ + i, p.block_rows, row_axes, 0, row);
      const std::uint32_t left = p.divided_extent - chunk * p.chunk;
      limits_[i] = row >= p.rows ? 0 : (left < p.chunk ? left : p.chunk) * p.chunk_positions;
      if (p.adjacent_tensor >= 0) {
        std::uint32_t index = row;
        split(index, p.divisors[row_axes - 1]);
        indices_[i] = index;
      }
    }
    __syncthreads();
  }

  /// Which of `row` and the next ones have the position, one bit for each.
  template <int kRows>
  __device__ __forceinline__ std::uint32_t present(std::int32_t position, std::int32_t row) const {
    std::uint32_t bits = 0;
    each_row<kRows>(limits_ + row, [&](int r, std::uint32_t limit) {
      bits |= static_cast<std::uint32_t>(position) < limit ? 1u << r : 0u;
    });
    return bits;
  }

  /// The row's index along the innermost axis of the rows, where a tensor is adjacent along it.
  __device__ __forceinline__ std::int32_t index(std::int32_t row) const {
    return static_cast<std::int32_t>(indices_[row]);
  }
  /// How far a row of a position lies from where tensor `number` begins, the output being 0.
  __device__ __forceinline__ std::int32_t offset(const ElementwiseParams& p, int number,
                                                 std::int32_t position, std::int32_t row) const {
    return static_cast<std::int32_t>(positions_[number * p.block_positions + position] +
                                     rows_[number * p.block_rows + row]);
  }
  /// The same for `row` and the next ones.
  template <int kRows>
  __device__ __forceinline__ void offsets(const ElementwiseParams& p, int number, std::int32_t position,
                                          std::int32_t row, std::int32_t (&offsets)[kRows]) const {
    const std::uint32_t offset = positions_[number * p.block_positions + position];
    each_row<kRows>(rows_ + number * p.block_rows + row, [&](int r, std::uint32_t row_offset) {
      offsets[r] = static_cast<std::int32_t>(offset + row_offset);
    });
  }

 private:
  /// Calls visit(r, number) for the numbers that a table has for the rows a lane makes; the first of them is
  /// a multiple of their number.
  template <int kRows, class Visit>
  static __device__ __forceinline__ void each_row(const std::uint32_t* table, Visit&& visit) {
    constexpr int kTogether = kRows < 4 ? kRows : 4;
    struct alignas(4 * kTogether) Numbers {
      std::uint32_t values[kTogether];
    };
#pragma unroll
    for (int first = 0; first < kRows; first += kTogether) {
      const Numbers numbers = *reinterpret_cast<const Numbers*>(table + first);
#pragma unroll
      for (int r = 0; r < kTogether; ++r) visit(first + r, numbers.values[r]);
    }
  }

  std::uint32_t *limits_, *indices_, *rows_, *positions_;
};

/// What a lane makes at once: a position in a few rows.
class TablePlace {
 public:
  /// `present` has a bit for each row that has the position; `whole` says that all have it.
  __device__ __forceinline__ TablePlace(const OffsetTables& tables, std::int32_t position, std::int32_t row,
                                        std::uint32_t present, bool whole)
      : tables_(tables), position_(position), row_(row), present_(present), whole_(whole) {}

  /// The elements of tensor `number`; 0 where a row does not have the position.
  template <class Bits, int kRows>
  __device__ __forceinline__ void elements(const ElementwiseParams& p, int number,
                                           Bits (&elements)[kRows]) const {
    const Bits* const data = static_cast<const Bits*>(p.tensor[number].data);
    each_row<kRows>(p, number + 1, [&](int r, std::int32_t offset, bool present) {
      elements[r] = present ? data[offset] : Bits{0};
    });
  }
  /// The element of a tensor that repeats it for all rows.
  template <class Bits>
  __device__ __forceinline__ Bits first(const ElementwiseParams& p, int number) const {
    return static_cast<const Bits*>(p.tensor[number].data)[tables_.offset(p, number + 1, position_, row_)];
  }

  /// The elements of tensor `number`, packed, with the fewest accesses.
  template <class Bits, int kRows>
  __device__ __forceinline__ Words load(const ElementwiseParams& p, int number) const {
    if (p.tensor[number].access == Access::repeated)
      return repeated_words(first<Bits>(p, number), sizeof(Bits));
    Words words{};
    if (number == p.adjacent_tensor && load_adjacent<Bits, kRows>(p, number, words)) return words;
    Bits each[kRows];
    elements(p, number, each);
#pragma unroll
    for (int r = 0; r < kRows; ++r) put_element(words, r, each[r]);
    return words;
  }

  template <class Bits, int kRows>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words& words) const {
    Bits each[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) each[r] = element_of<Bits>(words, r);
    store(p, each);
  }
  template <class Bits, int kRows>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Bits (&elements)[kRows]) const {
    Bits* const data = static_cast<Bits*>(p.out);
    each_row<kRows>(p, 0, [&](int r, std::int32_t offset, bool present) {
      if (present) data[offset] = elements[r];
    });
  }

  /// The same position from row `first` of them on.
  __device__ __forceinline__ TablePlace part(int first) const {
    return TablePlace(tables_, position_, row_ + first, present_ >> first, whole_);
  }

 private:
  /// Calls visit(r, offset, present) for the rows of tensor `number`, the output being 0. Where all rows have
  /// the position, none is tested.
  template <int kRows, class Visit>
  __device__ __forceinline__ void each_row(const ElementwiseParams& p, int number, Visit&& visit) const {
    std::int32_t offsets[kRows];
    tables_.offsets(p, number, position_, row_, offsets);
    if (whole_) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) visit(r, offsets[r], true);
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r) visit(r, offsets[r], (present_ >> r & 1) != 0);
    }
  }

  /// The elements of a tensor that follow each other from row to row, by one access or by the two aligned
  /// words around them: an access for each would meet as many lines of the cache, one after the other. False
  /// where the innermost axis ends between the rows, or where the words would reach beyond it.
  template <class Bits, int kRows>
  __device__ __forceinline__ bool load_adjacent(const ElementwiseParams& p, int number, Words& words) const {
    constexpr int kSize = static_cast<int>(sizeof(Bits)), kBytes = kRows * kSize;
    constexpr std::uint32_t kAll = (1u << kRows) - 1;
    const auto* const address = reinterpret_cast<const unsigned char*>(
        static_cast<const Bits*>(p.tensor[number].data) + tables_.offset(p, number + 1, position_, row_));
    // How many elements before `address` the aligned word starts. All is counted in elements: an axis may
    // have more bytes than 32 bits count.
    const auto lead =
        static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(address) & (kBytes - 1)) / kSize;
    const std::int32_t before = tables_.index(row_),
                       behind = static_cast<std::int32_t>(p.extents[p.rank - p.position_axes - 1]) - before;
    if ((!whole_ && (present_ & kAll) != kAll) || behind < kRows) return false;
    if (lead != 0 && (kBytes < 16 || lead > before || 2 * kRows - lead > behind)) return false;
    if constexpr (kBytes == 16) {
      UnalignedLoad load = {};
      load.start(address);
      words = load.words<kSize>();
    } else {
      const std::uint64_t bits = load_any(address, kBytes);
      words = {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), 0, 0}};
    }
    return true;
  }

  const OffsetTables& tables_;
  std::int32_t position_, row_;
  std::uint32_t present_;
  bool whole_;
};

/// Calls visit(place) for all that the block makes, a position in kRows rows at a time.
template <int kRows, class Visit>
__device__ __forceinline__ void visit_block(const ElementwiseParams& p, std::uint32_t* memory,
                                            Visit&& visit) {
  OffsetTables tables(p, memory);
  const auto first_row = static_cast<std::uint32_t>(blockIdx.x) * static_cast<std::uint32_t>(p.block_rows);
  tables.fill(p, first_row);
  const bool whole = p.whole_chunks && first_row + static_cast<std::uint32_t>(p.block_rows) <= p.rows;
  const std::int32_t items = p.block_rows / kRows * p.block_positions;
  for (auto item = static_cast<std::int32_t>(threadIdx.x); item < items; item += kElementwiseThreads) {
    auto rest = static_cast<std::uint32_t>(item);
    const std::int32_t row = static_cast<std::int32_t>(split(rest, p.position_divisor)) * kRows;
    const auto position = static_cast<std::int32_t>(rest);
    const std::uint32_t present = whole ? 0 : tables.present<kRows>(position, row);
    if (whole || present != 0) visit(TablePlace(tables, position, row, present, whole));
  }
}

/// The shape of a launch whose blocks have tables.
inline LaunchShape table_shape(const ElementwiseParams& p) {
  LaunchShape shape;
  shape.blocks_x = p.blocks;
  shape.threads_x = kElementwiseThreads;
  const std::int32_t numbers = 2 * p.block_rows + (p.tensors + 1) * (p.block_rows + p.block_positions);
  shape.shared_bytes = static_cast<std::size_t>(numbers) * sizeof(std::uint32_t);
  return shape;
}

}  // namespace relayout::RELAYOUT_BACKEND
