// Operations that have one result, whatever the elements are.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout::plan {

/// Makes such an operation one on constants, which reads nothing: integers are finite. Others stay as they
/// are.
void leave_out_unneeded(ElementwiseParams& params);

}  // namespace relayout::plan
