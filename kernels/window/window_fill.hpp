// The first half of the window kernel for any strides: the samples under a tile go into shared memory,
// converted and padded.
//
// Sources come in runs of neighbouring samples (core/pad_index.hpp): one for a tile within the signal, a few
// at its ends, one for a tile that lies wholly in the padding. A run is rows of elements. Where these lie
// side by side, they are read in packs on a pack's boundary, and the elements before a row's first pack and
// behind its last one by one. The tile begins as far behind a boundary as its samples do in the input
// (fill_shift()), so that in most runs a pack of the input is one of shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Packs or elements of so many bytes, of the wider type, that a thread has under way: what registers have
/// room for.
template <int kBytes>
constexpr int kFillLoads = kBytes < 8    ? 4
                           : kBytes < 16 ? 3
                                         : 2;

/// Elements of a pack: where it is stored as one, and where it is stored element by element, by lanes that so
/// hit different banks.
template <class From, class To>
constexpr int kWidePack = window_fill_pack(sizeof(From), sizeof(To));
template <class From, class To>
constexpr int kNarrowPack = narrow_window_fill_pack(sizeof(From), sizeof(To));

/// The place of a load that does not exist.
constexpr int kNoPlace = -0x7fffffff - 1;

/// Rows of the input that run alike, and where their elements go.
template <class From>
struct FillRows {
  const From* in;                      // the first row's first element
  std::int32_t row_step, column_step;  // bytes from row to row, from element to element
  int rows, count;
  // Where that element goes in the tile, and the same steps there. These are numbers, since the compiler
  // would not see of a pointer here that it points to shared memory.
  int place, tile_row_step, tile_column_step;

  /// By products of 32 bits, each of which is one instruction together with its sum.
  __device__ __forceinline__ const From* at(int row, int column) const {
    return reinterpret_cast<const From*>(reinterpret_cast<const unsigned char*>(in) +
                                         std::int64_t{row} * row_step + std::int64_t{column} * column_step);
  }
  __device__ __forceinline__ int place_of(int row, int column) const {
    return place + row * tile_row_step + column * tile_column_step;
  }
};

/// A thread's way over rows of so many items, kWindowThreads of them at a step. It divides once.
struct FillWalk {
  int columns, row, column;
  int row_step = 0, column_step = kWindowThreads;

  __device__ __forceinline__ FillWalk(int rows, int row_columns)
      : columns(row_columns),
        row(static_cast<int>(threadIdx.x) >= row_columns ? 1 : 0),
        column(static_cast<int>(threadIdx.x)) {
    if (rows == 1) return;
    const float reciprocal = 1.0f / static_cast<float>(columns);
    row = quotient(column, reciprocal);
    column -= row * columns;
    row_step = quotient(kWindowThreads, reciprocal);
    column_step = kWindowThreads - row_step * columns;
  }
  __device__ __forceinline__ void next() {
    row += row_step;
    column += column_step;
    if (column < columns) return;
    column -= columns;
    ++row;
  }

 private:
  /// number / columns for numbers up to the threads of a block: half of a unit keeps the product off the next
  /// integer by more than its rounding. An integer division takes three times the instructions.
  static __device__ __forceinline__ int quotient(int number, float reciprocal) {
    return static_cast<int>((static_cast<float>(number) + 0.5f) * reciprocal);
  }
};

/// By a plain access: those of load_global() are strong ones, which were slower.
template <class T>
__device__ __forceinline__ void load_input(T& values, const void* address) {
  if constexpr (sizeof(T) == 16) {
    load_16_bytes(&values, address);
  } else {
    const auto bits = *static_cast<const BitsOf<T>*>(address);
    memcpy(&values, &bits, sizeof bits);
  }
}

/// N elements of the input, kept as words: an array of its elements would take a register for each.
template <class From, int N>
struct FillPack {
  static constexpr int kWords = N * static_cast<int>(sizeof(From)) / 4;
  std::uint32_t words[kWords] = {};

  __device__ __forceinline__ From value(int i) const {
    From element;
    if constexpr (sizeof(From) < 4) {
      constexpr int kPer = 4 / static_cast<int>(sizeof(From));
      const auto bits =
          static_cast<BitsOf<From>>(words[i / kPer] >> (i % kPer * 8 * static_cast<int>(sizeof(From))));
      memcpy(&element, &bits, sizeof element);
    } else {
      memcpy(&element, words + i * (sizeof(From) / 4), sizeof element);
    }
    return element;
  }

  template <class To>
  __device__ __forceinline__ void store(To* address) const {
    if constexpr (std::is_same_v<From, To>) {
      static_assert(sizeof words == 16, "a pack of equal types");
      store_16_bytes(address, words);
    } else {
      Vector<To, N> pack;
#pragma unroll
      for (int i = 0; i < N; ++i) pack.values[i] = convert<To>(value(i));
      *reinterpret_cast<Vector<To, N>*>(address) = pack;
    }
  }
};

/// Elements of a row before its first boundary of N. Compared as an integer in other ways, the address would
/// no longer be known to the compiler as one of global memory.
template <int N, class From>
__device__ __forceinline__ int elements_before_pack(const From* row) {
  return static_cast<int>(0 - reinterpret_cast<std::uintptr_t>(row) / sizeof(From)) & (N - 1);
}

/// The whole packs of N neighbouring elements. kStoresPacks: they lie on boundaries of shared memory, too.
template <int N, bool kStoresPacks, class From, class To>
__device__ __forceinline__ void fill_packs(const FillRows<From>& r, To* tile) {
  constexpr int kLoads =
      kFillLoads<N* static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To))>;
  FillWalk walk(r.rows, r.count / N);
#pragma unroll 1
  while (walk.row < r.rows) {
    FillPack<From, N> packs[kLoads];
    int place[kLoads];
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      place[load] = kNoPlace;
      if (walk.row < r.rows) {
        const From* const row = r.at(walk.row, 0);
        const int begin = elements_before_pack<N>(row) + walk.column * N;
        if (begin + N <= r.count) {
          load_input(packs[load].words, row + begin);
          place[load] = r.place_of(walk.row, begin);
        }
      }
      walk.next();
    }
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      if (place[load] == kNoPlace) continue;
      if constexpr (kStoresPacks) {
        packs[load].store(tile + place[load]);
      } else {
#pragma unroll
        for (int i = 0; i < N; ++i)
          tile[place[load] + i * r.tile_column_step] = convert<To>(packs[load].value(i));
      }
    }
  }
}

/// Single elements: find(row, column) is the number within the row of one, -1 of none, for `columns` of them.
template <class From, class To, class Find>
__device__ __forceinline__ void fill_found(const FillRows<From>& r, To* tile, int columns, const Find& find) {
  constexpr int kLoads = kFillLoads<sizeof(From)>;
  FillWalk walk(r.rows, columns);
#pragma unroll 1
  while (walk.row < r.rows) {
    From values[kLoads] = {};
    int place[kLoads];
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      place[load] = kNoPlace;
      if (walk.row < r.rows) {
        const int element = find(r.at(walk.row, 0), walk.column);
        if (element >= 0) {
          load_input(values[load], r.at(walk.row, element));
          place[load] = r.place_of(walk.row, element);
        }
      }
      walk.next();
    }
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      if (place[load] != kNoPlace) tile[place[load]] = convert<To>(values[load]);
    }
  }
}

/// What fill_packs() leaves of each row.
template <int N, class From, class To>
__device__ __forceinline__ void fill_ends(const FillRows<From>& r, To* tile) {
  const int count = r.count;
  fill_found(r, tile, 2 * (N - 1), [&](const From* row, int column) {
    const int before = elements_before_pack<N>(row), head = before < count ? before : count,
              tail = (count - head) & (N - 1);
    if (column < N - 1) return column < head ? column : -1;
    column -= N - 1;
    return column < tail ? count - tail + column : -1;
  });
}

/// Whether there is nothing before and behind the packs of all rows.
template <int N, class From>
__device__ __forceinline__ bool has_whole_packs(const FillRows<From>& r) {
  return (r.rows == 1 || r.row_step % (N * static_cast<int>(sizeof(From))) == 0) && r.count % N == 0 &&
         elements_before_pack<N>(r.in) == 0;
}

/// Elements side by side. Packs pay where rows are long enough that few elements are left to their ends.
template <class From, class To>
__device__ __forceinline__ void fill_neighbours(const FillRows<From>& r, To* tile) {
  constexpr int kWide = kWidePack<From, To>, kNarrow = kNarrowPack<From, To>, kSize = sizeof(From);
  const auto in_place = static_cast<int>(reinterpret_cast<std::uintptr_t>(tile + r.place) / sizeof(To));
  const bool alike = r.tile_column_step == 1 && (elements_before_pack<kWide>(r.in) + in_place) % kWide == 0 &&
                     (r.rows == 1 || (r.row_step / kSize - r.tile_row_step) % kWide == 0);
  const bool whole = has_whole_packs<kWide>(r);
  if (alike && (whole || r.count >= 2 * kWide * kNarrow)) {
    fill_packs<kWide, true>(r, tile);
    if (!whole) fill_ends<kWide>(r, tile);
    return;
  }
  if constexpr (kNarrow > 1) {
    if (r.count >= 2 * kNarrow) {
      fill_packs<kNarrow, false>(r, tile);
      if (!has_whole_packs<kNarrow>(r)) fill_ends<kNarrow>(r, tile);
      return;
    }
  }
  fill_found(r, tile, r.count, [](const From*, int column) { return column; });
}

template <class From, class To>
__device__ __forceinline__ void fill_constant(const FillRows<From>& r, To* tile, To padding) {
#pragma unroll 1
  for (FillWalk walk(r.rows, r.count); walk.row < r.rows; walk.next())
    tile[r.place_of(walk.row, walk.column)] = padding;
}

/// Elements from a boundary of 16 bytes of shared memory to the tile's first, which is sample `first`.
template <class From, class To>
__device__ __forceinline__ int fill_shift(const WindowParams& p, const From* in, std::int64_t first) {
  const auto element = reinterpret_cast<std::uintptr_t>(in) / sizeof(From) +
                       static_cast<std::uintptr_t>(first) * static_cast<std::uintptr_t>(p.in_time);
  return static_cast<int>(element % kWidePack<From, To>);
}

/// One run of samples; `place`: of its first in the tile.
template <class From, class To>
__device__ __forceinline__ void fill_run(const WindowParams& p, const From* in, int channels,
                                         const PadRun& run, To* tile, int place, To padding) {
  const WindowTile& t = p.tile;
  const auto count = static_cast<int>(run.count), step = static_cast<int>(run.step);
  const bool along_time = t.channel_pitch != 1;
  FillRows<From> rows{
      in,    t.row_step,      t.column_step,     along_time ? channels : count, along_time ? count : channels,
      place, t.tile_row_step, t.tile_column_step};
  if (run.source < 0) return fill_constant(rows, tile, padding);
  rows.in += run.source * p.in_time;
  if (step != 1) {
    // Backwards, or one sample again and again.
    if (t.fill == WindowFill::time && along_time && step < 0) {
      rows.in -= count - 1;
      rows.place += (count - 1) * t.time_pitch;
      rows.tile_column_step = -t.time_pitch;
    } else if (along_time) {
      rows.column_step *= step;
    } else {
      rows.row_step *= step;
    }
  } else if (t.fill == WindowFill::flat) {
    rows.rows = 1;
    rows.count = (count - 1) * t.time_pitch + channels;
  }
  if (t.fill != WindowFill::elements && rows.column_step == static_cast<int>(sizeof(From))) {
    fill_neighbours(rows, tile);
  } else {
    fill_found(rows, tile, rows.count, [](const From*, int column) { return column; });
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
