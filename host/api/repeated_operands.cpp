#include "host/api/repeated_operands.hpp"

#include <algorithm>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// The view of the same shape with `axis` split into rounds of `period`.
TensorView split_axis(const TensorView& view, std::size_t axis, std::int64_t period) {
  Dims shape = view.shape(), strides = view.strides();
  const std::int64_t rounds = period == 0 ? 0 : shape[axis] / period;
  shape[axis] = period;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), rounds);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis),
                 rounds > 1 ? strides[axis] * period : 0);
  return TensorView(view.data(), view.dtype(), std::move(shape), std::move(strides));
}

/// A view of extent `period` along `axis`, repeated.
TensorView repeat_axis(const TensorView& view, std::size_t axis, std::int64_t rounds) {
  Dims shape = view.shape(), strides = view.strides();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), rounds);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  return TensorView(view.data(), view.dtype(), std::move(shape), std::move(strides));
}

/// The view without the axes along which the output, and so every operand, has one element.
TensorView without_ones(const TensorView& view, const Dims& out_shape) {
  Dims shape, strides;
  for (std::size_t axis = 0; axis < out_shape.size(); ++axis) {
    if (out_shape[axis] == 1) continue;
    shape.push_back(view.shape()[axis]);
    strides.push_back(view.strides()[axis]);
  }
  return TensorView(view.data(), view.dtype(), std::move(shape), std::move(strides));
}

TensorView with_rank(const TensorView& view, std::size_t rank) {
  Dims shape = view.shape();
  shape.insert(shape.begin(), rank - std::min(rank, shape.size()), 1);
  return view.reshaped(shape);
}

}  // namespace

ShapedOperands repeat_operands(const std::string& operation, const std::vector<TensorView>& tensors,
                               const std::vector<bool>& firsts, const TensorView& out) {
  ShapedOperands result{out, {}};
  const std::size_t rank = out.shape().size();
  const auto refuse = [&](const TensorView& view) {
    fail(operation, ErrorCode::shape,
         "the operand's shape " + to_string(view.shape()) + " does not repeat to the output's " +
             to_string(out.shape()));
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& view = tensors[i];
    if (view.shape().size() > rank) refuse(view);
    result.tensors.push_back(with_rank(view, rank));
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t whole = out.shape()[axis], part = result.tensors.back().shape()[axis];
      const bool divides = part == whole || (!firsts[i] && part > 0 && whole % part == 0);
      if (!divides) refuse(view);
    }
  }
  for (TensorView& tensor : result.tensors) tensor = without_ones(tensor, out.shape());
  result.out = without_ones(out, out.shape());
  for (std::size_t axis = result.out.shape().size(); axis-- > 0;) {
    const std::int64_t whole = result.out.shape()[axis];
    std::int64_t period = whole;
    for (const TensorView& tensor : result.tensors) {
      const std::int64_t part = tensor.shape()[axis];
      if (part == whole || part == 1 || part == period) continue;
      if (period != whole)
        fail(operation, ErrorCode::unsupported, "operands that repeat in different rounds along one axis");
      period = part;
    }
    if (period == whole) continue;
    if (result.out.rank() == kMaxRank)
      fail(operation, ErrorCode::rank,
           "an axis along which operands repeat counts as two, and more than " + std::to_string(kMaxRank) +
               " are left");
    for (TensorView& tensor : result.tensors) {
      const std::int64_t part = tensor.shape()[axis];
      if (part == whole) {
        tensor = split_axis(tensor, axis, period);
      } else {
        tensor = repeat_axis(tensor, axis, 1);
      }
    }
    result.out = split_axis(result.out, axis, period);
  }
  for (TensorView& tensor : result.tensors) tensor = tensor.broadcast_to(result.out.shape());
  return result;
}

}  // namespace relayout
