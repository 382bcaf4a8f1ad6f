// Pack: 16 bytes of elements, moved by one access.
#pragma once

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(T));
  T values[kCount];
};

template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* address) {
  Pack<T> pack;
  load_16_bytes(&pack, address);
  return pack;
}
template <class T>
__device__ __forceinline__ void store_pack(T* address, const Pack<T>& pack) {
  store_16_bytes(address, &pack);
}
/// To global memory. `streaming`: past the caches, for data that nobody reads soon; it leaves the L2 to the
/// input.
template <class T>
__device__ __forceinline__ void store_pack(T* address, const Pack<T>& pack, bool streaming) {
  store_global_16_bytes(address, &pack, streaming);
}

}  // namespace relayout::RELAYOUT_BACKEND
