// Contiguous rows of elements converted between any two types.
#pragma once

#include <cstdint>

#include "core/number_format.hpp"
#include "host/cpu/element_rows.hpp"

namespace relayout::native {

/// The conversion of a row: no conversion where it was made without types. What casts do by default
/// (ElementCast::quick) is one loop that the compiler vectorises, or two with numbers of 4 or 8 bytes between
/// them; other roundings go by the numbers of the formats (ElementCast).
class CastRow {
 public:
  CastRow() = default;
  CastRow(DType in, DType out, const ElementCast& cast);

  explicit operator bool() const { return in_bytes_ != 0; }
  /// out[0, count) = cast(in[0, count)), contiguous, not overlapping.
  void operator()(const void* in, void* out, std::int64_t count) const;

 private:
  using GenericRow = void (*)(const ElementCast& cast, const void* in, void* out, std::int64_t count);

  void cast(const void* in, void* out, std::int64_t count) const;
  static GenericRow generic_row(DType in, DType out);
  void choose(DType in, DType out);
  void choose_to_floating(DType in, DType out);

  ElementCast cast_;
  GenericRow generic_ = nullptr;
  ConvertRow first_ = nullptr, second_ = nullptr;
  std::int64_t in_bytes_ = 0, out_bytes_ = 0;
};

}  // namespace relayout::native
