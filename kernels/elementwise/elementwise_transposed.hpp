// The element-wise kernel for one operand whose fastest axis is another than the output's, as in a + b.T: its
// tiles are transposed in registers and shared memory. The other operand is read along the output's rows, or
// is a constant. Global memory is read and written in aligned vectors of 16 bytes, each once.
//
// A tile has 16 vectors either way. A lane takes a square of kWidth by kWidth elements: it loads kWidth
// vectors along the operand's axis, and stores the square's kWidth vectors along the output's axis to shared
// memory. Vector x of row y lies at column x ^ (y / kWidth): the 8 lanes of a phase, which differ in the
// square's row when they store and in x when they load, meet 8 different columns, that is, all banks once.
#pragma once

#include "kernels/block_index.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

#include <relayout/tile_space.hpp>

namespace relayout::RELAYOUT_BACKEND {

template <class T>
struct TransposedTile {
  static constexpr int kWidth = 16 / static_cast<int>(sizeof(T)), kSquares = kTransposedVectors,
                       kSide = kSquares * kWidth;
  static constexpr int kThreads = kSquares * kSquares;
  /// Vectors that are computed together.
  static constexpr int kVectors = 16 / kWidth < kWidth ? 16 / kWidth : kWidth;
  static constexpr std::size_t kSharedBytes = std::size_t{16} * kSide * kSquares;
};

/// The axes of the output's rows and of their elements, in tiles.
using TransposedSpace = TileSpace<2>;

/// Where a block's tile lies: its first row and column, how many of each lie inside, and the offsets of the
/// nest's other axes.
struct TransposedPlace {
  std::int64_t y, x;
  int rows, columns;
  std::int64_t out = 0, tensors[2] = {0, 0};
};

__device__ __forceinline__ TransposedPlace transposed_place(const ElementwiseParams& p,
                                                            const TransposedSpace& space) {
  const std::int64_t tiles = space.tile_count();
  const PerAxis<2> tile = space.tile_at(block_index() % tiles);
  const PerAxis<2> first = space.origin(tile), inside = space.clipped(tile);
  TransposedPlace place{first[0], first[1], static_cast<int>(inside[0]), static_cast<int>(inside[1])};
  std::int64_t rest = block_index() / tiles;
  for (int axis = p.rank - 2; axis >= 0; --axis) {
    if (axis == p.transposed_axis) continue;
    const std::int64_t index = rest % p.extents[axis];
    rest /= p.extents[axis];
    place.out += index * p.out_strides[axis];
#pragma unroll
    for (int t = 0; t < 2; ++t) place.tensors[t] += index * p.tensor[t].strides[axis];
  }
  return place;
}

/// Loads elements [0, count) of a vector at a multiple of 16 bytes; the others are 0.
template <class T>
__device__ __forceinline__ Words load_part(const T* address, int count) {
  constexpr int kWidth = TransposedTile<T>::kWidth;
  Words words{};
  if (count >= kWidth) {
    load_global_16_bytes(&words, address);
    return words;
  }
  const auto* const data = reinterpret_cast<const BitsOf<T>*>(address);
  BitsOf<T> elements[kWidth];  // all on their way before the first is waited for
#pragma unroll
  for (int i = 0; i < kWidth; ++i) elements[i] = i < count ? data[i] : BitsOf<T>{0};
#pragma unroll
  for (int i = 0; i < kWidth; ++i) put_element(words, i, elements[i]);
  return words;
}

/// Transposes a square: rows[i] becomes what its column i was.
template <class T>
__device__ __forceinline__ void turn_square(Words (&rows)[TransposedTile<T>::kWidth]) {
  constexpr int kWidth = TransposedTile<T>::kWidth;
  Words columns[kWidth] = {};
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t low = rows[2 * k].values[i / 2], high = rows[2 * k + 1].values[i / 2];
        columns[i].values[k] =
            i % 2 == 0 ? permute_bytes<0x5410>(low, high) : permute_bytes<0x7632>(low, high);
      }
    } else {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) put_element<Bits>(columns[i], k, element_of<Bits>(rows[k], i));
    }
  }
#pragma unroll
  for (int i = 0; i < kWidth; ++i) rows[i] = columns[i];
}

/// Moves the transposed operand's tile to shared memory.
template <class T>
__device__ __forceinline__ void stage_transposed(const ElementwiseParams& p, const TransposedPlace& place,
                                                 Words* shared) {
  using Tile = TransposedTile<T>;
  constexpr int kWidth = Tile::kWidth, kSquares = Tile::kSquares;
  const TensorOperand& tensor = p.tensor[p.transposed_tensor];
  const int across = static_cast<int>(threadIdx.x) / kSquares,
            along = static_cast<int>(threadIdx.x) % kSquares;
  const int x = across * kWidth, y = along * kWidth;
  const T* const data = static_cast<const T*>(tensor.data) +
                        (p.transposed_tensor == 0 ? place.tensors[0] : place.tensors[1]) + place.y + y;
  Words square[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const bool inside = x + i < place.columns;
    square[i] = load_part(data + (inside ? (place.x + x + i) * tensor.strides[p.rank - 1] : 0),
                          inside ? place.rows - y : 0);
  }
  turn_square<T>(square);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    store_16_bytes(&shared[(along * kWidth + i) * kSquares + (across ^ along)], &square[i]);
}

template <class T, class C>
__global__ RELAYOUT_LAUNCH_BOUNDS(TransposedTile<T>::kThreads,
                                  2) void transposed_kernel(const ElementwiseParams p,
                                                            const TransposedSpace space,
                                                            std::int64_t blocks) {
  if (is_spare(block_index(), blocks)) return;
  using Tile = TransposedTile<T>;
  constexpr int kWidth = Tile::kWidth, kSquares = Tile::kSquares, kVectors = Tile::kVectors;
  RELAYOUT_DYNAMIC_SHARED(Words, shared);
  const TransposedPlace place = transposed_place(p, space);
  const int column = static_cast<int>(threadIdx.x) % kSquares;
  const int first_row = static_cast<int>(threadIdx.x) / kSquares;
  const std::int64_t x = place.x + column * kWidth;
  const int left = place.columns - column * kWidth;
  const int other = 1 - p.transposed_tensor;
  const TensorOperand& row_tensor = p.tensor[other];
  const bool has_other = row_tensor.access != Access::constant,
             repeated = row_tensor.access == Access::repeated;
  const T* const row_data =
      static_cast<const T*>(row_tensor.data) + (other == 0 ? place.tensors[0] : place.tensors[1]);
  const auto row_of = [&](int i) { return first_row + i * kSquares; };  // of the tile
  Words others[kWidth] = {};
  if (!has_other) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) others[i] = constant_words<T>(p.argument[other].bits());
  }
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (!has_other || left <= 0 || row_of(i) >= place.rows) continue;
    const T* const row = row_data + (place.y + row_of(i)) * row_tensor.strides[p.transposed_axis];
    if (repeated) {
      VectorLoad<true, kWidth> load;
      load.start(Access::repeated, sizeof(T), 0, reinterpret_cast<const unsigned char*>(row),
                 Span{0, 0, kWidth, kWidth});
      others[i] = load.words();
    } else {
      others[i] = load_part(row + x, left);
    }
  }
  stage_transposed<T>(p, place, shared);
  __syncthreads();
  const bool transposed_first = p.transposed_tensor == 0;
#pragma unroll 1
  for (int i = 0; i < kWidth; i += kVectors) {
    Words a[kVectors], b[kVectors], results[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int row = row_of(i + v);
      Words transposed;
      load_16_bytes(&transposed, &shared[row * kSquares + (column ^ (row / kWidth))]);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t mine = transposed.values[k], its = others[v].values[k];
        a[v].values[k] = transposed_first ? mine : its;
        b[v].values[k] = transposed_first ? its : mine;
      }
    }
    compute_words<T, T, T, C, Steps::cheap, kWidth>(p, a, b, results);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (left <= 0 || row_of(i + v) >= place.rows) continue;
      const std::int64_t y = place.y + row_of(i + v);
      unsigned char* const address = reinterpret_cast<unsigned char*>(
          static_cast<T*>(p.out) + (place.out + y * p.out_strides[p.transposed_axis] + x));
      store_vector<kWidth>(address, 1, sizeof(T), 0, left < kWidth ? left : kWidth, results[v], p.streaming);
    }
    // The vectors that come next move up: an index that the compiler does not know would put them into
    // memory.
#pragma unroll
    for (int v = 0; v + kVectors < kWidth; ++v) others[v] = others[v + kVectors];
  }
}

template <class T, class C>
void launch_transposed_of(const LaunchContext& context, const ElementwiseParams& p) {
  using Tile = TransposedTile<T>;
  const int last = p.rank - 1;
  const auto of_rows = [&](const std::int64_t* numbers) {
    return PerAxis<2>{numbers[p.transposed_axis], numbers[last]};
  };
  const TransposedSpace space(of_rows(p.extents), of_rows(p.out_strides), {Tile::kSide, Tile::kSide});
  const std::int64_t planes = p.elements / (p.extents[last] * p.extents[p.transposed_axis]);
  const std::int64_t blocks = planes * space.tile_count();
  launch(name_of(p.step[0].operation), context, numbered_blocks(blocks, Tile::kThreads, Tile::kSharedBytes),
         transposed_kernel<T, C>, p, space, blocks);
}

}  // namespace relayout::RELAYOUT_BACKEND
