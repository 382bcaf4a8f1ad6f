// out = cast(in) over any loop nest, between any two element types.
#pragma once

#include "core/copy_params.hpp"

namespace relayout::native {

/// Takes the casts of CopyOperands::generic_cast.
void cast_copy(const CopyParams& params);

}  // namespace relayout::native
