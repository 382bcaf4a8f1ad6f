// The element operations of the tile kernel. `read` converts an element of the input to one of the tile;
// `vector` and `element` store elements of the tile. kMoves: an element of the tile has the bits of the
// input.
#pragma once

#include "core/tile_params.hpp"
#include "kernels/copy/scale.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// out = cast(in).
struct StoreAsIs {
  static constexpr bool kMoves = true;
  template <class To, class From>
  static __device__ __forceinline__ To read(const TileParams&, From value) {
    return convert<To>(value);
  }
  template <class To>
  static __device__ __forceinline__ void vector(const TileParams& p, To* address, const Words& words) {
    store_global_16_bytes(address, &words, p.streaming);
  }
  template <class To>
  static __device__ __forceinline__ void element(const TileParams&, To* address, To value) {
    *address = value;
  }
};

/// out = cast(in), or cast(alpha * in) for a scaled copy, converted on the way in; the product is rounded
/// once. One instance serves both, because there is one for every pair of types.
struct ReadCast : StoreAsIs {
  static constexpr bool kMoves = false;
  template <class To, class From>
  static __device__ __forceinline__ To read(const TileParams& p, From value) {
    return p.scaled ? scale<To>(p, value) : convert<To>(value);
  }
};

/// out = alpha * in + beta * out, all of one floating type.
struct StoreScaled {
  static constexpr bool kMoves = true;
  template <class To>
  static __device__ __forceinline__ To read(const TileParams&, To value) {
    return value;
  }
  template <class To>
  static __device__ __forceinline__ void vector(const TileParams& p, To* address, const Words& words) {
    Vector<To> values;
    memcpy(&values, &words, 16);
    if (p.beta == 0) {
#pragma unroll
      for (int i = 0; i < Vector<To>::kCount; ++i) values.values[i] = scale<To>(p, values.values[i]);
    } else {
      const Vector<To> old = load_vector(address);
#pragma unroll
      for (int i = 0; i < Vector<To>::kCount; ++i)
        values.values[i] = scale_and_add<To>(p, values.values[i], old.values[i]);
    }
    store_vector(address, values, p.streaming);
  }
  template <class To>
  static __device__ __forceinline__ void element(const TileParams& p, To* address, To value) {
    *address = scale_into<To>(p, value, address);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
