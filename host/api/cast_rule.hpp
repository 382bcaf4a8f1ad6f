// The checks of a copy's element types and options; host/plan/copy/cast_rule.hpp says how kernels take them.
#pragma once

#include "host/plan/copy/cast_rule.hpp"

namespace relayout {

/// Error{dtype} for types that no cast takes and for options that mean nothing between these two or beside
/// alpha and beta; {rounding_mode} likewise.
void check_cast_options(const char* operation, DType in, DType out, const CopyPlanOptions& options);

}  // namespace relayout
