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
  return *reinterpret_cast<const Pack<T>*>(address);
}
template <class T>
__device__ __forceinline__ void store_pack(T* address, const Pack<T>& pack) {
  *reinterpret_cast<Pack<T>*>(address) = pack;
}

}  // namespace relayout::RELAYOUT_BACKEND
