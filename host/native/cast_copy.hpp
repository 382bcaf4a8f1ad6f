// out = cast(in) over any loop nest, between any two element types.
#pragma once

#include "kernels/params.hpp"

namespace relayout::native {

/// CopyOperands::by_format.
void cast_copy(const CopyParams& params);

}  // namespace relayout::native
