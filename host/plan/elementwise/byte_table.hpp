// An operation on one operand of 8-bit codes is a function of a byte. Its 256 results are a table that is
// made once, by the processor, and a run is a copy whose kernel looks each byte up.
#pragma once

#include "core/elementwise_params.hpp"
#include "host/plan/copy/copy_plan.hpp"

namespace relayout::plan {

/// What keeps a program from being a table. Null: it is a function of one byte that gives one byte, and codes
/// are among them. Plain bytes are for the kernels for operations on known types, which reach a copy's speed.
const char* obstacle_to_table(const ElementwiseParams& params);

/// The same program on each byte once: it reads `bytes` and writes `results`.
ElementwiseParams on_each_byte(const ElementwiseParams& params, const ByteTable& bytes, ByteTable& results);

/// out = table[in], of views of one shape. The table is the caller's to fill in, once it is known that the
/// copy is taken.
PlannedCopy plan_table_copy(const TensorView& in, const TensorView& out, const DeviceProperties& device);

/// Why the copy is not taken: no kernel with a table takes the nest, or the kernels for codes are faster.
/// Null: it is.
const char* obstacle_to_table_copy(const PlannedCopy& copy);

/// What keeps a copy that is taken from a run on this memory. Null: nothing.
const char* obstacle_to_table_memory(const PlannedCopy& copy, const void* in, const void* out);

}  // namespace relayout::plan
