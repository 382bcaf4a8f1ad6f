// How the element-wise kernels cut a loop nest: each row of the output into aligned vectors.
#pragma once

#include "core/elementwise_params.hpp"

#include <relayout/device.hpp>

namespace relayout::plan {

/// Each of these sets what of the parameters depends on where the memory is: width, row_vectors, vectors,
/// what numbers are split by, how operands are accessed, and which one is transposed. All else is set.
void cut_rows(ElementwiseParams& params);          // vectors of 16 bytes, or as many numbers as kernels hold
void cut_narrow_rows(ElementwiseParams& params);   // 4 elements, for the kernel of mixed types
void cut_wide_rows(ElementwiseParams& params);     // the same for operations that take many registers
void cut_program_rows(ElementwiseParams& params);  // for the kernel of any program
void cut_rows(ElementwiseParams& params, std::int32_t width);  // so many elements; none is transposed

/// Cuts an output in one piece into the elements of lanes, whatever its rows are. Its axes come in
/// reverse order, with strides of quotients, as in strips.
void cut_flat(ElementwiseParams& params);

/// Gives each vector of a nest's rows, which are cut, to a lane. The axes come in reverse order, as in
/// cut_flat().
void cut_code_vectors(ElementwiseParams& params);

/// Sets, for rows of codes, how many lanes share a row and how many lanes there are.
void share_rows(ElementwiseParams& params);

/// Elements of a chunk of a row.
std::int64_t chunk_elements(const ElementwiseParams& params);
/// Cuts the rows into chunks instead of vectors.
void cut_chunks(ElementwiseParams& params);

/// Sets the threads of a block of strips or chunks: fewer where the device would have multiprocessors without
/// a block. They wait for no other lane, so that small blocks lose nothing.
void choose_block_threads(const DeviceProperties& device, ElementwiseKernel kernel,
                          ElementwiseParams& params);

}  // namespace relayout::plan
