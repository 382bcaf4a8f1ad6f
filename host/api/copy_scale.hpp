// The check of alpha and beta.
#pragma once

#include "host/plan/copy/cast_rule.hpp"

namespace relayout {

/// The scale, rounded to scale_type(). Throws Error{dtype} and {literal_range} as CopyScale says.
CopyScale checked_scale(const char* operation, const CopyScale& scale, DType in, DType out);

}  // namespace relayout
