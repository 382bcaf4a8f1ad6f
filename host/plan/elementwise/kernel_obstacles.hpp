// What element-wise kernels ask of a launch.
#pragma once

#include "core/elementwise_params.hpp"

#include <relayout/device.hpp>

namespace relayout::plan {

inline bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

inline bool is_along_rows(const ElementwiseParams& p) { return p.out_strides[p.rank - 1] == 1; }

inline bool rows_end_with_vectors(const ElementwiseParams& p) {
  return p.row_vectors * p.width == p.extents[p.rank - 1];
}

/// Null: nothing is in the way. Strips have offsets of 32 bits, and make more axes of the nest's.
const char* obstacle_to_cutting(const ElementwiseParams& params);

/// The same of chunks of rows: rows whose elements are near each other and fill chunks. In long rows that are
/// not all aligned, chunks take 0.5 to 0.8 of the time of the kernel before strips on an H200.
const char* obstacle_to_chunks(const ElementwiseParams& params);

/// The same of tiles of an operand that lies across the output's rows: full ones, enough of them.
const char* obstacle_to_tiles(const DeviceProperties& device, const ElementwiseParams& params);

/// Whether the output is in one piece, in rows of a lane's elements or more, and each tensor lies as it does
/// or repeats one element along its rows.
bool lies_flat(const ElementwiseParams& params);

/// What obstacle_to_cutting() says, of the kernels for chains: tensors, repeated or aligned to 16 bytes, and
/// the output are of one of f16, bf16 and f32, in which everything is computed.
const char* obstacle_to_chain(const ElementwiseParams& params);

/// The same of kernels that have all vectors in registers, and so none to exchange operands with.
const char* obstacle_to_vectors(const ElementwiseParams& params);

}  // namespace relayout::plan
