// Blocks of the element-wise kernel with offset tables, which takes tensors that lie in no vectors.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout::plan {

/// Why the kernel cannot, or should not, take the launch; null where it takes it. Rows must have been cut.
const char* obstacle_to_tables(const ElementwiseParams& params);

/// Sets the blocks, and the order of all axes but the output's fastest. Rows must have been cut.
void cut_table_blocks(ElementwiseParams& params);

}  // namespace relayout::plan
