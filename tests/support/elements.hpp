// Walking the elements of host views, and reading and writing one element of any type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/reference/scalar.hpp"

#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout::test {

/// Calls visit(index, offset) for every element in C order; `offset` is in elements from the view's base.
template <class Visit>
void for_each_element(const TensorView& view, Visit&& visit) {
  if (view.elements() == 0) return;
  Dims index(view.shape().size(), 0);
  std::int64_t offset = 0;
  while (true) {
    visit(static_cast<const Dims&>(index), offset);
    int axis = view.rank() - 1;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      offset += view.strides()[a];
      if (++index[a] < view.shape()[a]) break;
      offset -= view.strides()[a] * view.shape()[a];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

inline unsigned char* element_at(const TensorView& view, std::int64_t offset) {
  return static_cast<unsigned char*>(view.data()) + offset * static_cast<std::int64_t>(size_of(view.dtype()));
}

inline std::int64_t offset_of(const TensorView& view, const Dims& index) {
  std::int64_t offset = 0;
  for (std::size_t a = 0; a < index.size(); ++a) offset += index[a] * view.strides()[a];
  return offset;
}

using reference::load_bits;
using reference::store_bits;

/// The number that `bits` stand for; for types without arithmetic the bits themselves.
inline double value_of(std::uint64_t bits, DType type) {
  switch (type) {
    case DType::f16:
      return to_float(f16{static_cast<std::uint16_t>(bits)});
    case DType::bf16:
      return to_float(bf16{static_cast<std::uint16_t>(bits)});
    case DType::f32:
      return detail::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::f64:
      return detail::bit_cast<double>(bits);
    default:
      break;
  }
  if (!is_signed(type)) return static_cast<double>(bits);
  const std::size_t unused = 64 - 8 * size_of(type);
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

/// `value` rounded once to `type`; for integers it must be one that fits.
inline std::uint64_t bits_of(double value, DType type) {
  switch (type) {
    case DType::f16:
      return to_f16(value).bits;
    case DType::bf16:
      return to_bf16(value).bits;
    case DType::f32:
      return detail::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64:
      return detail::bit_cast<std::uint64_t>(value);
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
}

inline double load_value(const TensorView& view, const Dims& index) {
  return value_of(load_bits(element_at(view, offset_of(view, index)), view.dtype()), view.dtype());
}
inline void store_value(const TensorView& view, const Dims& index, double value) {
  store_bits(element_at(view, offset_of(view, index)), view.dtype(), bits_of(value, view.dtype()));
}

}  // namespace relayout::test
