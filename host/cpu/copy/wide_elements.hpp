// Rows of a few bytes as elements of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/bytes.hpp"
#include "core/copy_params.hpp"

namespace relayout::native {

/// An element of 16 bytes, which is moved as it is.
struct WidePair {
  std::uint64_t first, second;
};

/// The same copy, without a conversion, with its shortest rows as elements: where all of both sides' rows
/// have 2, 4, 8 or 16 bytes and begin on multiples of as many, or of 8. An element is moved by one
/// instruction, and planes of them are transposed.
inline CopyParams in_wide_elements(const CopyParams& p) {
  const int last = p.rank - 1;
  const std::int64_t size = bytes_of(p.in_type), wide = size * p.extents[last];
  constexpr std::int64_t kAlignment = alignof(WidePair);
  const bool is_power = (wide & (wide - 1)) == 0;
  if (last == 0 || wide <= size || wide > 16 || !is_power || p.in_strides[last] != 1 ||
      p.out_strides[last] != 1)
    return p;
  const auto starts = reinterpret_cast<std::uintptr_t>(p.in) | reinterpret_cast<std::uintptr_t>(p.out);
  if (starts % static_cast<std::uintptr_t>(std::min(wide, kAlignment)) != 0) return p;
  CopyParams joined = p;
  joined.rank = last;
  joined.elements /= p.extents[last];
  joined.in_type = joined.out_type = wide == 16 ? DType::b128 : unsigned_of(wide);
  for (int axis = 0; axis < last; ++axis) {
    if (p.in_strides[axis] % p.extents[last] != 0 || p.out_strides[axis] % p.extents[last] != 0) return p;
    joined.in_strides[axis] /= p.extents[last];
    joined.out_strides[axis] /= p.extents[last];
  }
  return joined;
}

}  // namespace relayout::native
