// The element types and options of a copy, checked, as the kernels take them.
#pragma once

#include <optional>

#include "core/number_format.hpp"
#include "relayout/copy_options.hpp"

namespace relayout {

/// Whether kernels convert by convert_bits: any pair but those that have instances of their own, and those
/// too with a rounding that is not to nearest even.
bool needs_generic_cast(DType in, DType out, const CastOptions& options);

/// Whether the conversion keeps all bits, so that elements can move as they are: equal types, and integers of
/// one size that wrap.
bool keeps_bits(DType in, DType out, const CastOptions& options);

/// The options' rounding or the default one; none where nothing is rounded.
std::optional<Rounding> rounding_of(DType in, DType out, const CastOptions& options);

/// Of a pair for which needs_generic_cast holds.
ElementCast element_cast(DType in, DType out, const CastOptions& options);

/// Error{dtype} for types that no cast takes and for options that mean nothing between these two or beside
/// alpha and beta; {rounding_mode} likewise.
void check_cast_options(const char* operation, DType in, DType out, const CopyPlanOptions& options);

}  // namespace relayout
