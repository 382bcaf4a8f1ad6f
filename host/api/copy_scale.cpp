#include "host/api/copy_scale.hpp"

#include <cmath>
#include <string>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {

CopyScale checked_scale(const char* operation, const CopyScale& scale, DType in, DType out) {
  if (!is_scaled(scale)) return scale;
  if (!is_floating(in) || !is_floating(out)) {
    fail(operation, ErrorCode::dtype,
         std::string("alpha and beta are for f16, bf16, f32 and f64, not for a copy from ") + name_of(in) +
             " to " + name_of(out));
  }
  if (scale_type(in, out) == DType::f64) return scale;
  CopyScale rounded;
  for (const auto value : {&CopyScale::alpha, &CopyScale::beta}) {
    rounded.*value = static_cast<double>(static_cast<float>(scale.*value));
    if (std::isinf(rounded.*value) && std::isfinite(scale.*value)) {
      fail(operation, ErrorCode::literal_range,
           (value == &CopyScale::alpha ? "alpha " : "beta ") + shortest(scale.*value) +
               " is too large for f32, in which " + name_of(in) +
               (in == out ? std::string(" is") : std::string(" and ") + name_of(out) + " are") + " scaled");
    }
  }
  return rounded;
}

}  // namespace relayout
