// The element-wise kernel for one operand whose fastest axis is another than the output's, as in a + b.T: its
// tiles are turned in registers and shared memory. The other operand is read along the output's rows, or is a
// constant. Global memory is read and written in aligned vectors of 16 bytes, each once.
//
// A tile has 16 vectors either way. A lane takes a square of kWidth by kWidth elements: it loads kWidth
// vectors along the operand's axis, and stores the square's kWidth vectors along the output's axis to shared
// memory. Vector x of row y lies at column x ^ (y / kWidth): the 8 lanes of a phase, which differ in the
// square's row when they store and in x when they load, meet 8 different columns, that is, all banks once.
#pragma once

#include "kernels/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T>
struct TurnedTile {
  static constexpr int kWidth = 16 / static_cast<int>(sizeof(T)), kSquares = 16, kSide = kSquares * kWidth;
  static constexpr int kThreads = kSquares * kSquares;
  /// Vectors that are computed together.
  static constexpr int kVectors = 16 / kWidth < kWidth ? 16 / kWidth : kWidth;
  static constexpr std::size_t kSharedBytes = std::size_t{16} * kSide * kSquares;
};

/// Where a block's tile lies: its first indices along the turned axis and the last one, and the offsets of
/// the nest's other axes.
struct TurnedPlace {
  std::int64_t x, y, out = 0, tensors[2] = {0, 0};
};

template <int kSide>
__device__ __forceinline__ TurnedPlace turned_place(const ElementwiseParams& p) {
  const int last = p.rank - 1;
  const std::int64_t columns = (p.extents[last] + kSide - 1) / kSide;
  const std::int64_t rows = (p.extents[p.turned_axis] + kSide - 1) / kSide;
  std::int64_t rest = blockIdx.x;
  TurnedPlace place;
  place.x = rest % columns * kSide;
  rest /= columns;
  place.y = rest % rows * kSide;
  rest /= rows;
  for (int axis = last - 1; axis >= 0; --axis) {
    if (axis == p.turned_axis) continue;
    const std::int64_t index = rest % p.extents[axis];
    rest /= p.extents[axis];
    place.out += index * p.out_strides[axis];
#pragma unroll
    for (int t = 0; t < 2; ++t) place.tensors[t] += index * p.tensor[t].strides[axis];
  }
  return place;
}

/// Elements [0, count) of a vector at a multiple of 16 bytes, the others 0.
template <class T>
__device__ __forceinline__ Words load_part(const T* address, std::int64_t count) {
  constexpr int kWidth = TurnedTile<T>::kWidth;
  Words words{};
  if (count >= kWidth) {
    load_global_16_bytes(&words, address);
    return words;
  }
#pragma unroll 1
  for (int i = 0; i < count; ++i)
    put_any(words, i, sizeof(T), load_any(reinterpret_cast<const unsigned char*>(address + i), sizeof(T)));
  return words;
}

/// rows[i] becomes what the square's column i was.
template <class T>
__device__ __forceinline__ void turn_square(Words (&rows)[TurnedTile<T>::kWidth]) {
  constexpr int kWidth = TurnedTile<T>::kWidth;
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

/// The turned operand's tile to shared memory.
template <class T>
__device__ __forceinline__ void stage_turned(const ElementwiseParams& p, const TurnedPlace& place,
                                             Words* shared) {
  using Tile = TurnedTile<T>;
  constexpr int kWidth = Tile::kWidth, kSquares = Tile::kSquares;
  const TensorOperand& tensor = p.tensor[p.turned_tensor];
  const int across = static_cast<int>(threadIdx.x) / kSquares,
            along = static_cast<int>(threadIdx.x) % kSquares;
  const std::int64_t x = place.x + across * kWidth, y = place.y + along * kWidth;
  const T* const data =
      static_cast<const T*>(tensor.data) + (p.turned_tensor == 0 ? place.tensors[0] : place.tensors[1]);
  Words square[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const bool inside = x + i < p.extents[p.rank - 1];
    square[i] = load_part(data + (inside ? (x + i) * tensor.strides[p.rank - 1] + y : 0),
                          inside ? p.extents[p.turned_axis] - y : 0);
  }
  turn_square<T>(square);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    store_16_bytes(&shared[(along * kWidth + i) * kSquares + (across ^ along)], &square[i]);
}

template <class T, class C>
__global__ RELAYOUT_LAUNCH_BOUNDS(TurnedTile<T>::kThreads, 2) void turned_kernel(const ElementwiseParams p) {
  using Tile = TurnedTile<T>;
  constexpr int kWidth = Tile::kWidth, kSquares = Tile::kSquares, kVectors = Tile::kVectors;
  RELAYOUT_DYNAMIC_SHARED(Words, shared);
  const TurnedPlace place = turned_place<Tile::kSide>(p);
  const int last = p.rank - 1, column = static_cast<int>(threadIdx.x) % kSquares;
  const int first_row = static_cast<int>(threadIdx.x) / kSquares;
  const std::int64_t x = place.x + column * kWidth, left = p.extents[last] - x;
  const int other = 1 - p.turned_tensor;
  const TensorOperand& row_tensor = p.tensor[other];
  const bool has_other = row_tensor.access != Access::constant,
             repeated = row_tensor.access == Access::repeated;
  const T* const row_data =
      static_cast<const T*>(row_tensor.data) + (other == 0 ? place.tensors[0] : place.tensors[1]);
  const auto row_of = [&](int i) { return place.y + first_row + i * kSquares; };
  Words others[kWidth] = {};
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (!has_other || left <= 0 || row_of(i) >= p.extents[p.turned_axis]) continue;
    const T* const row = row_data + row_of(i) * row_tensor.strides[p.turned_axis];
    if (repeated) {
      VectorLoad<true, kWidth> load;
      load.start(Access::repeated, sizeof(T), 0, reinterpret_cast<const unsigned char*>(row),
                 Span{0, 0, kWidth, kWidth});
      others[i] = load.words();
    } else {
      others[i] = load_part(row + x, left);
    }
  }
  stage_turned<T>(p, place, shared);
  __syncthreads();
  const bool turned_first = p.turned_tensor == 0;
#pragma unroll 1
  for (int i = 0; i < kWidth; i += kVectors) {
    Words a[kVectors], b[kVectors], results[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int row = first_row + (i + v) * kSquares;
      Words turned;
      load_16_bytes(&turned, &shared[row * kSquares + (column ^ (row / kWidth))]);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t mine = turned.values[k], its = others[v].values[k];
        a[v].values[k] = turned_first ? mine : its;
        b[v].values[k] = turned_first ? its : mine;
      }
    }
    compute_typed<T, T, T, C, kWidth>(p, a, b, results);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t y = row_of(i + v);
      if (left <= 0 || y >= p.extents[p.turned_axis]) continue;
      unsigned char* const address = reinterpret_cast<unsigned char*>(
          static_cast<T*>(p.out) + (place.out + y * p.out_strides[p.turned_axis] + x));
      store_vector<kWidth>(address, 1, sizeof(T), 0, left < kWidth ? static_cast<int>(left) : kWidth,
                           results[v], p.streaming);
    }
    // What comes next moves up: an index would put the vectors into memory.
#pragma unroll
    for (int v = 0; v + kVectors < kWidth; ++v) others[v] = others[v + kVectors];
  }
}

template <class T, class C>
void launch_turned_of(const LaunchContext& context, const ElementwiseParams& p) {
  using Tile = TurnedTile<T>;
  const auto tiles = [&](int axis) { return (p.extents[axis] + Tile::kSide - 1) / Tile::kSide; };
  const int last = p.rank - 1;
  LaunchShape shape;
  shape.blocks_x =
      p.elements / (p.extents[last] * p.extents[p.turned_axis]) * tiles(last) * tiles(p.turned_axis);
  shape.threads_x = Tile::kThreads;
  shape.shared_bytes = Tile::kSharedBytes;
  launch(name_of(p.step[0].operation), context, shape, turned_kernel<T, C>, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
