// The checks that every operation makes on its views before anything is launched.
#pragma once

#include <cstdint>
#include <string>

#include "core/launch_context.hpp"
#include "relayout/error.hpp"
#include "relayout/stream.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// "OPERATION: WHAT"
[[noreturn]] void fail(const std::string& operation, ErrorCode code, const std::string& what);

/// Error{invalid_argument} for a number that no enumerator has, as static_cast<PadMode>(200): what follows
/// takes every enumeration for one of its enumerators, and looks them up in tables. They count from 0 to
/// `last`; `name` is what the message calls the argument.
void check_number_of_enumerator(const char* operation, const char* name, std::int64_t number,
                                std::int64_t last);
template <class Enum>
void check_enumerator(const char* operation, const char* name, Enum value, Enum last) {
  check_number_of_enumerator(operation, name, static_cast<std::int64_t>(value),
                             static_cast<std::int64_t>(last));
}
/// The same for an element type.
inline void check_is_type(const char* operation, const char* name, DType type) {
  check_enumerator(operation, name, type, DType::b128);
}

/// Error{dtype} unless the types are equal, of 1, 2, 4 or 8 bytes, or both among f16, bf16, f32 and f64.
/// Equal types move as bytes, others are cast.
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

/// The stride of an axis, or 0 where it is never stepped along: it then may be any number, even one too large
/// to compute with.
std::int64_t used_stride(const TensorView& view, int axis);

/// Whether the views' elements would lie on each other, in the same order, if both began at one address.
bool have_same_places(const TensorView& a, const TensorView& b);

/// Error{invalid_shape} for a view that reaches over more bytes, or has more elements, than any memory has.
/// What is computed from extents and strides after this check fits 64 bits with room to spare.
void check_reach(const char* operation, const char* name, const TensorView& view);

/// Error{invalid_argument} for a view with elements whose pointer is not a multiple of its element size (of 8
/// for b128, which moves as two elements of 8 bytes): no kernel can reach it. Null counts as aligned. Checks
/// the reach, too.
void check_address(const char* operation, const char* name, const TensorView& view);

/// Throws what check_address() throws, and Error{null_pointer} for a view with elements and a null pointer.
/// `name` is what the message calls it: "the input", for instance.
void check_pointer(const char* operation, const char* name, const TensorView& view);

/// Whether check_pointer() accepts the view, whose byte_range() is known, with this pointer in the place of
/// its own.
bool may_begin_at(const TensorView& view, const TensorView::ByteRange& range, const void* data);

/// Error{null_pointer}, {invalid_argument}, {output_overlap} or {partial_overlap}: pointers, an output whose
/// elements are distinct, and no byte shared by input and output (host/plan/sharing.hpp).
void check_memory(const char* operation, const TensorView& in, const TensorView& out);

/// The checks of check_memory for a plan, whose addresses may come later: a null pointer shares no byte with
/// anything.
void check_planned_memory(const char* operation, const TensorView& in, const TensorView& out);

/// The checks of check_memory for an output alone.
void check_output(const char* operation, const TensorView& out);

/// The two checks of overlap that check_memory makes: Error{output_overlap}, and Error{partial_overlap}.
void check_distinct(const char* operation, const TensorView& out);
void check_disjoint(const char* operation, const TensorView& in, const TensorView& out);

/// Whether work on one device may use the memory, streams and recordings of the other.
bool same_device(const Device& a, const Device& b) noexcept;

LaunchContext context_of(const Stream& stream);
const KernelTable& kernels_of(const Stream& stream);

}  // namespace relayout
