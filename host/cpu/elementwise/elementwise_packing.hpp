// Which operands and results of an element-wise operation are packed, box by box, and not taken row by row.
#pragma once

#include <cstdint>

#include "host/cpu/elementwise/elementwise_operand.hpp"

namespace relayout::native {

/// Whether some of its elements come several times.
bool repeats(const MergedAxes& axes);

/// Neighbours along the innermost axis lie in lines of their own, and there is an axis of neighbours in
/// memory. Without repeated elements, which are few and stay in the caches, also rows of short steps, and
/// rows shorter than a line: taken one by one, they would cost more than their elements. Rows of one pitch
/// cost so little that they stay.
bool is_packed(const MergedAxes& axes, std::int64_t bytes);
/// The same of an output, whose results are unpacked. Only its shortest rows are: a row that is written from
/// a register waits for nothing.
bool is_output_packed(const MergedAxes& axes, std::int64_t bytes);

}  // namespace relayout::native
