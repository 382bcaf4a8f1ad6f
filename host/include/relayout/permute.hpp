// permute, transpose and cast: out[i] = in[i] under another order of axes, another layout, another element
// type.
#pragma once

#include <vector>

#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// out = in with result axis j = in's axis axes[j] (numpy.transpose), cast to out's element type.
/// Equal element types move as bytes (1, 2, 4, 8 bytes); otherwise both are f16, bf16, f32 or f64, rounded
/// once, to nearest even. in: any strides. out: any strides under which no two elements share an address.
/// Errors: invalid_argument (axes), shape, dtype, output_overlap, partial_overlap, null_pointer.
void permute(const Stream& stream, const TensorView& in, const std::vector<int>& axes, const TensorView& out);

/// permute with the last two axes exchanged: in [..., m, n] -> out [..., n, m]; rank 2 or more, else
/// Error{rank}.
void transpose(const Stream& stream, const TensorView& in, const TensorView& out);

/// The same shape, in's order of axes: a strided copy, converting where the element types differ.
void cast(const Stream& stream, const TensorView& in, const TensorView& out);

}  // namespace relayout
