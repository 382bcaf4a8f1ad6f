#include "relayout/tensor_view.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/bytes.hpp"
#include "host/api/checks.hpp"
#include "host/plan/checked_math.hpp"
#include "host/plan/loop_nest.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using plan::add;
using plan::multiply;
using plan::multiply_add;

std::string describe(DType dtype, const Dims& shape) { return name_of(dtype) + to_string(shape); }

void check_extents(const Dims& shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxRank)) {
    throw Error(ErrorCode::rank, "A view of " + std::to_string(shape.size()) +
                                     " axes is beyond the limit of " + std::to_string(kMaxRank) +
                                     "; merge axes.");
  }
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw Error(ErrorCode::invalid_argument, "The shape " + to_string(shape) + " has a negative extent.");
    }
  }
}

bool has_zero(const Dims& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

std::int64_t count_elements(const Dims& shape) {
  if (has_zero(shape)) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (!multiply(count, extent, count)) {
      plan::throw_too_large("The number of elements of the shape " + to_string(shape));
    }
  }
  return count;
}

/// Returns false when an offset does not fit 63 bits.
bool compute_range(const Dims& shape, const Dims& strides, std::int64_t bytes, std::int64_t& begin,
                   std::int64_t& end) noexcept {
  begin = 0;
  end = bytes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t reach = 0;
    if (!multiply(shape[axis] - 1, strides[axis], reach)) return false;
    std::int64_t& side = reach < 0 ? begin : end;
    if (!multiply_add(reach, bytes, side, side)) return false;
  }
  return begin >= -std::numeric_limits<std::int64_t>::max();  // 63 bits: every offset can be negated
}

/// Moves a pointer by bytes, without arithmetic on a null pointer.
void* advance(void* data, std::int64_t bytes) {
  return data == nullptr ? nullptr : static_cast<char*>(data) + bytes;
}

}  // namespace

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (k > 0) text += ", ";
    text += std::to_string(dims[k]);
  }
  return text + "]";
}

Dims contiguous_strides(const Dims& shape) {
  check_extents(shape);
  Dims strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    strides[k] = stride;
    // The outermost extent is in no stride, and an empty axis counts as one element, as in numpy.
    if (k > 0 && !multiply(stride, std::max<std::int64_t>(shape[k], 1), stride)) {
      plan::throw_too_large("A stride of the shape " + to_string(shape));
    }
  }
  return strides;
}

TensorView::TensorView(const void* data, DType dtype, const Dims& shape)
    : TensorView(data, dtype, shape, contiguous_strides(shape)) {}

TensorView::TensorView(const void* data, DType dtype, Dims shape, Dims strides)
    : data_(const_cast<void*>(data)), dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)) {
  check_is_type("TensorView", "the element type", dtype_);
  check_extents(shape_);
  if (strides_.size() != shape_.size()) {
    throw Error(ErrorCode::rank, "The shape " + relayout::to_string(shape_) + " and the strides " +
                                     relayout::to_string(strides_) + " differ in their number of axes.");
  }
  elements_ = count_elements(shape_);
  std::int64_t begin = 0, end = 0;
  if (elements_ > 0 && !compute_range(shape_, strides_, bytes_of(dtype_), begin, end)) {
    plan::throw_too_large("A byte offset of " + to_string());
  }
}

TensorView::TensorView(TensorView&& other) noexcept { *this = std::move(other); }

TensorView& TensorView::operator=(TensorView&& other) noexcept {
  if (this == &other) return *this;
  data_ = std::exchange(other.data_, nullptr);
  dtype_ = std::exchange(other.dtype_, DType::f32);
  shape_ = std::exchange(other.shape_, {});
  strides_ = std::exchange(other.strides_, {});
  elements_ = std::exchange(other.elements_, 1);
  return *this;
}

void TensorView::throw_no_axis(int axis) const {
  throw Error(ErrorCode::invalid_argument, "There is no axis " + std::to_string(axis) + " of " + to_string() +
                                               ", which has " + std::to_string(rank()) +
                                               (rank() == 1 ? " axis." : " axes."));
}

TensorView TensorView::from_bytes(const void* data, DType dtype, Dims shape, Dims byte_strides) {
  check_is_type("TensorView", "the element type", dtype);
  const std::int64_t bytes = bytes_of(dtype);
  for (const std::int64_t stride : byte_strides) {
    if (stride % bytes != 0) {
      throw Error(ErrorCode::stride_alignment,
                  "The byte strides " + relayout::to_string(byte_strides) + " of " + describe(dtype, shape) +
                      " are not all multiples of the element size " + std::to_string(bytes) + ".");
    }
  }
  for (std::int64_t& stride : byte_strides) stride /= bytes;
  return TensorView(data, dtype, std::move(shape), std::move(byte_strides));
}

TensorView TensorView::from_ggml(const void* data, DType dtype, const Dims& ne, const Dims& nb) {
  return from_bytes(data, dtype, Dims(ne.rbegin(), ne.rend()), Dims(nb.rbegin(), nb.rend()));
}

TensorView TensorView::permuted(const std::vector<int>& axes) const {
  std::vector<bool> seen(shape_.size(), false);
  Dims shape, strides;
  for (const int axis : axes) {
    const std::size_t k = static_cast<std::size_t>(axis);
    if (axis < 0 || axis >= rank() || seen[k]) break;
    seen[k] = true;
    shape.push_back(shape_[k]);
    strides.push_back(strides_[k]);
  }
  if (shape.size() != axes.size() || shape.size() != shape_.size()) {
    throw Error(ErrorCode::invalid_argument, "The axes " +
                                                 relayout::to_string(Dims(axes.begin(), axes.end())) +
                                                 " are no permutation of the " + std::to_string(rank()) +
                                                 " axes of " + describe(dtype_, shape_) + ".");
  }
  return TensorView(data_, dtype_, std::move(shape), std::move(strides));
}

TensorView TensorView::broadcast_to(const Dims& shape) const {
  bool fits = shape.size() >= shape_.size();
  Dims strides(shape.size(), 0);
  for (std::size_t k = 0; fits && k < shape_.size(); ++k) {
    const std::size_t target = shape.size() - shape_.size() + k;
    if (shape_[k] == shape[target]) {
      strides[target] = strides_[k];
    } else if (shape_[k] != 1) {
      fits = false;
    }
  }
  if (!fits) {
    throw Error(ErrorCode::shape, describe(dtype_, shape_) + " cannot be broadcast to " +
                                      relayout::to_string(shape) +
                                      ": right-aligned extents must be equal, or 1 in the view.");
  }
  return TensorView(data_, dtype_, shape, std::move(strides));
}

TensorView TensorView::slice(int axis, std::int64_t begin, std::int64_t end) const {
  if (axis < 0 || axis >= rank() || begin < 0 || begin > end || end > extent(axis)) {
    throw Error(ErrorCode::invalid_argument, "The slice [" + std::to_string(begin) + ", " +
                                                 std::to_string(end) + ") of axis " + std::to_string(axis) +
                                                 " leaves " + describe(dtype_, shape_) + ".");
  }
  TensorView result = *this;
  const std::size_t k = static_cast<std::size_t>(axis);
  result.shape_[k] = end - begin;
  result.elements_ = count_elements(result.shape_);
  // Without elements the start may lie outside the checked range: the pointer then stays where it is.
  if (result.elements_ > 0) {
    result.data_ = advance(data_, begin * strides_[k] * bytes_of(dtype_));
  }
  return result;
}

TensorView TensorView::reshaped(const Dims& shape) const {
  check_extents(shape);
  if (count_elements(shape) != elements_) {
    throw Error(ErrorCode::shape, describe(dtype_, shape_) + " cannot be reshaped to " +
                                      relayout::to_string(shape) + ": the numbers of elements differ.");
  }
  if (elements_ == 0) return TensorView(data_, dtype_, shape);

  // Both shapes are walked from the last axis; each new axis must divide what is left of one merged old axis.
  plan::LoopNest old = plan::own_nest(*this);
  Dims strides(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (shape[k] == 1) {
      const bool last = k + 1 == shape.size();
      if (last || !multiply(strides[k + 1], shape[k + 1], strides[k])) strides[k] = 1;
      continue;
    }
    std::int64_t &extent = old.extents.back(), &stride = old.strides[0].back();
    if (extent % shape[k] != 0) {
      throw Error(ErrorCode::shape, to_string() + " cannot be reshaped to " + relayout::to_string(shape) +
                                        " without a copy; make it contiguous first.");
    }
    strides[k] = stride;
    extent /= shape[k];
    if (extent == 1) {
      old.extents.pop_back();
      old.strides[0].pop_back();
    } else {
      stride *= shape[k];
    }
  }
  return TensorView(data_, dtype_, shape, std::move(strides));
}

TensorView::ByteRange TensorView::byte_range() const noexcept {
  ByteRange range{0, 0};
  if (elements_ == 0) return range;
  // Cannot fail: the constructor has checked it.
  compute_range(shape_, strides_, bytes_of(dtype_), range.begin, range.end);
  return range;
}

bool TensorView::is_contiguous() const noexcept {
  if (elements_ == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t k = shape_.size(); k-- > 0;) {
    if (shape_[k] == 1) continue;
    if (strides_[k] != expected) return false;
    expected *= shape_[k];
  }
  return true;
}

std::string TensorView::to_string() const {
  return describe(dtype_, shape_) + " strides " + relayout::to_string(strides_);
}

Dims broadcast_shapes(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  const auto extent_of = [rank](const Dims& shape, std::size_t axis) {
    const std::size_t missing = rank - shape.size();
    return axis < missing ? std::int64_t{1} : shape[axis - missing];
  };
  Dims result(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t left = extent_of(a, k), right = extent_of(b, k);
    if (left != right && left != 1 && right != 1) {
      throw Error(ErrorCode::shape, "The shapes " + to_string(a) + " and " + to_string(b) +
                                        " do not broadcast: right-aligned extents must be equal or 1.");
    }
    result[k] = left == 1 ? right : left;
  }
  return result;
}

}  // namespace relayout
