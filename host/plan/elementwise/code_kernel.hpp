// The kernels for one operation on codes (quantized.hpp), and what keeps a program from them.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout::plan {

/// Whether the operation's result is finite for all codes whose scales lie between kMinFoldedScale and
/// kMaxFoldedScale: cheap arithmetic of one number or two, but for quotients and roots.
bool is_bounded(Operation operation);

/// Rows of codes in vectors: add, sub and mul of codes to codes, scales and zero points constant along each
/// row. Null: the kernel can do it. The rows are cut into vectors of 16 bytes.
const char* obstacle_to_code_rows(const ElementwiseParams& params);

/// Chooses between chunks of rows and strips for one operation on codes, and cuts the nest for it. Null:
/// either has been chosen. enough_lanes: as many as fill the device.
const char* choose_one_on_codes(ElementwiseParams& params, std::int64_t enough_lanes,
                                ElementwiseKernel& kernel);

}  // namespace relayout::plan
