// The usual memory layouts of images: views whose shape is (N, C, d2, .., dk) whatever the order in memory.
#pragma once

#include <cstdint>

#include <relayout/export.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Where the channels of a tensor (N, C, d2, .., dk) lie. Extents in memory, the fastest last:
enum class Layout : std::uint8_t {
  ndarray,  ///< N, C, d2, .., dk: C order
  nhwc,     ///< N, d2, .., dk, C
  nhwc8,    ///< N, d2, .., dk, C rounded up to a multiple of 8
  nhwc16    ///< N, d2, .., dk, C rounded up to a multiple of 16
};

/// The enumerator's name, as in "nhwc8".
RELAYOUT_API const char* name_of(Layout layout) noexcept;

/// Element strides of the shape (N, C, d2, .., dk). Errors: {rank} for fewer than 2 axes, those of the
/// TensorView of the shape, {invalid_shape} for a stride that does not fit 63 bits.
RELAYOUT_API Dims strides_in(Layout layout, const Dims& shape);

/// Elements that a tensor occupies, all pads included: as many as an allocation must hold. Errors as
/// strides_in, and {invalid_shape} when the number does not fit 63 bits.
RELAYOUT_API std::int64_t elements_in(Layout layout, const Dims& shape);

/// The tensor at `data`, with its logical shape. The pads of nhwc8 and nhwc16 are gaps between its elements:
/// no operation reads them into a result, and none writes them. Layouts may be mixed at will:
///
///     const Dims shape{8, 20, 28, 28};
///     const TensorView in = view_in(Layout::nhwc8, x, DType::f16, shape);
///     copy(stream, in, view_in(Layout::ndarray, y, DType::f32, shape));
///
/// Broadcasting aligns to the last logical axis, whatever the layout: TensorView::broadcast_to
/// repeats a scalar [] or a row [dk] over the shape, and a value for each channel is a view of [C, 1, .., 1].
/// Errors as strides_in, and those of TensorView.
RELAYOUT_API TensorView view_in(Layout layout, const void* data, DType dtype, const Dims& shape);

}  // namespace relayout
