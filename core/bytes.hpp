// Sizes in bytes, signed as offsets are, so that a product of both needs no conversion.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

inline std::int64_t bytes_of(DType type) { return static_cast<std::int64_t>(size_of(type)); }

/// The address this many bytes away, computed as a number: a null pointer may stand for memory to come.
template <class T>
T* at_bytes(T* address, std::int64_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes));
}

/// The unsigned integer of 1, 2, 4 or 8 bytes.
constexpr DType unsigned_of(std::int64_t bytes) {
  return bytes == 1 ? DType::u8 : bytes == 2 ? DType::u16 : bytes == 4 ? DType::u32 : DType::u64;
}

/// All elements together; an element that the view repeats counts each time.
inline std::int64_t bytes_of(const TensorView& view) { return view.elements() * bytes_of(view.dtype()); }

/// The elements that a view distinguishes: those that it repeats, by stride 0, count once.
inline std::int64_t unique_bytes(const TensorView& view) {
  std::int64_t elements = view.elements();
  for (int axis = 0; axis < view.rank(); ++axis) {
    if (view.stride(axis) == 0 && view.extent(axis) > 1) elements /= view.extent(axis);
  }
  return elements * bytes_of(view.dtype());
}

}  // namespace relayout
