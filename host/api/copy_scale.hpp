// alpha and beta of a copy as the kernels take them.
#pragma once

#include "relayout/copy_options.hpp"
#include "relayout/dtype.hpp"

namespace relayout {

/// Whether it is anything but the plain copy.
inline bool is_scaled(const CopyScale& scale) { return scale.alpha != 1 || scale.beta != 0; }

/// The type that alpha * in + beta * out is computed in: f64 or f32.
inline DType scale_type(DType in, DType out) {
  return in == DType::f64 || out == DType::f64 ? DType::f64 : DType::f32;
}

/// Rounded to that type. Error{dtype} and {literal_range} as CopyScale says.
CopyScale checked_scale(const char* operation, const CopyScale& scale, DType in, DType out);

}  // namespace relayout
