// The checks that every operation makes on its views before anything is launched.
#pragma once

#include <optional>
#include <string>

#include "core/launch_context.hpp"
#include "relayout/stream.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// Equal types of 1, 2, 4 or 8 bytes, which move as bytes, or a cast among f16, bf16, f32 and f64; else
/// Error{dtype}.
void check_cast(const char* operation, DType in, DType out);

/// Error{rank} unless the view has this many axes.
void check_rank(const char* operation, const char* name, const TensorView& view, int rank);

/// Error{shape} naming both.
void check_shape(const char* operation, const TensorView& view, const Dims& wanted);

/// A number in as few digits as tell it from every other: "1e+300".
std::string shortest(double value);
std::string shortest(float value);

/// Whether a view was given where a default one stands for "none".
inline bool is_given(const TensorView& view) { return view.data() != nullptr || view.rank() > 0; }

/// The stride of an axis; 0 where nothing is ever stepped over, since it then may be any number, too large to
/// compute with.
std::int64_t used_stride(const TensorView& view, int axis);

/// Error{invalid_shape} for a view that reaches over more bytes, or has more elements, than any memory has.
/// What is computed from extents and strides after this check fits 64 bits with room to spare.
void check_reach(const char* operation, const char* name, const TensorView& view);

/// Error{invalid_argument} for a view with elements whose pointer is no multiple of its element size (of 8
/// for b128, which moves as two of 8 bytes): no kernel can reach it. Null counts as aligned. Checks the
/// reach, too.
void check_address(const char* operation, const char* name, const TensorView& view);

/// The same, and Error{null_pointer} for elements without memory. `name` is "the input", ...
void check_pointer(const char* operation, const char* name, const TensorView& view);

/// Error{null_pointer}, {invalid_argument}, {output_overlap} or {partial_overlap}: pointers, an output whose
/// elements are distinct, and no byte shared by input and output (host/plan/sharing.hpp).
void check_memory(const char* operation, const TensorView& in, const TensorView& out);

/// Only an output.
void check_output(const char* operation, const TensorView& out);

/// Parts of it: Error{output_overlap}; Error{partial_overlap}.
void check_distinct(const char* operation, const TensorView& out);
void check_disjoint(const char* operation, const TensorView& in, const TensorView& out);

/// Whether work of one may use the memory, streams and recordings of the other.
bool same_device(const Device& a, const Device& b) noexcept;

/// The checks before a plan runs: Error{unsupported} for one that was made from properties alone,
/// Error{invalid_argument} for a stream of another device than `device`.
void check_plan_device(const std::string& operation, const std::optional<Device>& device,
                       const DeviceProperties& properties, const Stream& stream);

LaunchContext context_of(const Stream& stream);
const KernelTable& kernels_of(const Stream& stream);

}  // namespace relayout
