// The loops of casts that element_rows.hpp does not have: of fp8 and tf32, to integers from floating types,
// and the first of two roundings.
#pragma once

#include "host/cpu/element_rows.hpp"

namespace relayout::native {

/// Elements of tf32, e4m3fn or e5m2 to f32, exactly; of a NaN the sign is kept, not the payload.
ConvertRow restricted_to_f32(DType in);

/// Integers of 32 or 64 bits, or f64, to f32 whose last bit that is kept, the 17th or one behind it, is set
/// where it is not exact: rounding that to a type of 14 bits or fewer rounds the number once.
ConvertRow odd_f32_row(DType in);

/// f32 or f64 (`in`) to integers: truncated, then the nearest that the type has; a NaN gives 0.
ConvertRow truncated_row(DType in, DType out);

/// f32 to tf32, e4m3fn or e5m2: rounded to nearest even; numbers beyond the largest of fp8 become that.
ConvertRow rounded_row(DType out);

}  // namespace relayout::native
