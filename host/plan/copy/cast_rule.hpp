// How kernels take a copy's types and its options.
#pragma once

#include <cstdint>
#include <optional>

#include "core/number_format.hpp"
#include "relayout/copy_options.hpp"

namespace relayout {

/// Whether kernels convert by convert_bits: pairs without instances of their own, and every pair with a
/// rounding other than to nearest even.
bool needs_generic_cast(DType in, DType out, const CastOptions& options);

/// Whether the conversion keeps all bits, so that elements can move as they are: equal types, and integers of
/// one size that wrap.
bool keeps_bits(DType in, DType out, const CastOptions& options);

/// Whether a conversion may round: one of the types has fractions, and more than zero counts.
bool rounds(DType in, DType out);

/// The options' rounding or the default one; none where nothing is rounded.
std::optional<Rounding> rounding_of(DType in, DType out, const CastOptions& options);

/// What kernels are told of a cast for which needs_generic_cast holds.
ElementCast element_cast(DType in, DType out, const CastOptions& options);

/// The bits of one element of type `in`, converted to type `out`.
std::uint64_t converted_bits(DType in, DType out, const CastOptions& options, std::uint64_t bits);

/// Whether it is anything but the plain copy.
inline bool is_scaled(const CopyScale& scale) { return scale.alpha != 1 || scale.beta != 0; }

/// The type that alpha * in + beta * out is computed in: f64 or f32.
inline DType scale_type(DType in, DType out) {
  return in == DType::f64 || out == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace relayout
