// TensorView: where a tensor's elements are. No ownership, no device: memory is the caller's.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <relayout/dtype.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// The most axes that a view can have.
constexpr int kMaxRank = 32;

/// Extents or strides, one per axis, in C order (last axis fastest in a contiguous tensor).
using Dims = std::vector<std::int64_t>;

/// The numbers in brackets: "[2, 3, 4]".
RELAYOUT_API std::string to_string(const Dims& dims);

/// A tensor in memory of the caller's. Element (i0, i1, ...) lies at data + size_of(dtype) * sum(i_k *
/// strides[k]). Strides count elements; they may be 0 (broadcast), negative, or leave gaps. Functions take
/// pointers that are multiples of the element size (b128: of 8 bytes), else Error{invalid_argument}. They
/// never write through a view that they take as an input.
class RELAYOUT_API TensorView {
 public:
  /// A scalar of f32 at a null pointer. As an argument it stands for "none" where a function says so.
  TensorView() = default;
  /// A copy.
  TensorView(const TensorView&) = default;
  /// A copy.
  TensorView& operator=(const TensorView&) = default;
  /// Leaves a default view behind.
  TensorView(TensorView&& other) noexcept;
  /// Leaves a default one behind.
  TensorView& operator=(TensorView&& other) noexcept;
  /// A contiguous tensor. Throws Error{invalid_argument} for a negative extent, {rank} above kMaxRank,
  /// {invalid_shape} when the number of elements or a byte offset does not fit 63 bits.
  TensorView(const void* data, DType dtype, const Dims& shape);
  /// A tensor with any strides, in elements; shape and strides have one entry per axis, else Error{rank}.
  TensorView(const void* data, DType dtype, Dims shape, Dims strides);
  /// A tensor with strides in bytes. Throws Error{stride_alignment} when one is no multiple of the element
  /// size.
  static TensorView from_bytes(const void* data, DType dtype, Dims shape, Dims byte_strides);
  /// ggml's convention: extents ne and byte strides nb, the fastest axis first; any number of axes (ggml: 4).
  /// The view's shape is ne in reverse: ne {128, 16, 13, 1} gives [1, 13, 16, 128]. Types of ggml whose
  /// elements come in blocks have no view. Errors: those of from_bytes, {rank} unless ne and nb have equal
  /// lengths.
  static TensorView from_ggml(const void* data, DType dtype, const Dims& ne, const Dims& nb);

  /// The address of element (0, 0, ...).
  void* data() const noexcept { return data_; }
  /// The element type.
  DType dtype() const noexcept { return dtype_; }
  /// The number of axes.
  int rank() const noexcept { return static_cast<int>(shape_.size()); }
  /// The extents.
  const Dims& shape() const noexcept { return shape_; }
  /// The strides, in elements.
  const Dims& strides() const noexcept { return strides_; }
  /// The extent of an axis. Throws Error{invalid_argument} unless axis is one of 0..rank-1.
  std::int64_t extent(int axis) const { return shape_[checked(axis)]; }
  /// The stride of an axis, in elements. Throws Error{invalid_argument} unless axis is one of 0..rank-1.
  std::int64_t stride(int axis) const { return strides_[checked(axis)]; }
  /// The number of elements; 1 without axes.
  std::int64_t elements() const noexcept { return elements_; }

  /// The same memory with result axis j = this view's axis axes[j] (numpy.transpose). Throws
  /// Error{invalid_argument} unless axes is a permutation of 0..rank-1.
  TensorView permuted(const std::vector<int>& axes) const;
  /// Axes of extent 1 and missing leading axes repeated (stride 0) to `shape`. Throws Error{shape}.
  TensorView broadcast_to(const Dims& shape) const;
  /// [begin, end) along one axis. Throws Error{invalid_argument} when it leaves the view.
  TensorView slice(int axis, std::int64_t begin, std::int64_t end) const;
  /// The same elements in the same order under another shape, for views whose axes can be split or merged
  /// without a copy. Throws Error{shape} otherwise.
  TensorView reshaped(const Dims& shape) const;

  /// Byte offsets from data() to the first reachable byte and one past the last; {0, 0} without elements.
  struct ByteRange {
    std::int64_t begin;  ///< the first byte, at most 0
    std::int64_t end;    ///< one past the last byte
  };
  /// The bytes that the view may reach.
  ByteRange byte_range() const noexcept;
  /// Whether the elements lie in C order without gaps.
  bool is_contiguous() const noexcept;
  /// Type, shape and strides: "f32[2, 3] strides [3, 1]".
  std::string to_string() const;

 private:
  std::size_t checked(int axis) const {
    if (axis < 0 || axis >= rank()) throw_no_axis(axis);
    return static_cast<std::size_t>(axis);
  }
  [[noreturn]] void throw_no_axis(int axis) const;

  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Dims shape_, strides_;
  std::int64_t elements_ = 1;
};

/// The shape that numpy broadcasting gives: right-aligned, extents equal or 1. Throws Error{shape}.
RELAYOUT_API Dims broadcast_shapes(const Dims& a, const Dims& b);
/// Strides of a contiguous tensor of this shape.
RELAYOUT_API Dims contiguous_strides(const Dims& shape);

}  // namespace relayout
