#include "bench/random/host_tensor.hpp"

#include <utility>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/plan/copy/cast_rule.hpp"

namespace relayout::bench::random {
namespace {

/// The same memory as elements of 8 bytes, the two of an element along a new last axis.
TensorView as_u64_pairs(const TensorView& view) {
  Dims shape = view.shape(), strides = view.strides();
  for (std::int64_t& stride : strides) stride *= 2;
  shape.push_back(2);
  strides.push_back(1);
  return TensorView(view.data(), DType::u64, std::move(shape), std::move(strides));
}

}  // namespace

std::int64_t Box::elements() const {
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < begin.size(); ++axis) elements *= end[axis] - begin[axis];
  return elements;
}

HostTensor::HostTensor(const Stream& stream, const TensorView& tensor, const Box& box)
    : type_(tensor.dtype()) {
  TensorView part = tensor;
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis)
    part = part.slice(static_cast<int>(axis), box.begin[axis], box.end[axis]);
  shape_ = part.shape();
  memory_.resize(static_cast<std::size_t>(part.elements()) * size_of(type_));
  const Buffer packed(stream.device(), memory_.size());
  gather(stream, part, TensorView(packed.data(), type_, shape_));
  stream.copy(memory_.data(), packed.data(), memory_.size());
  stream.synchronize();
}

std::string mismatch(std::int64_t count, const Box& box, const Dims& first) {
  Dims index = first;
  for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += box.begin[axis];
  return std::to_string(count) + " of " + std::to_string(box.elements()) +
         " elements differ from the reference, the first at " + to_string(index);
}

void gather(const Stream& stream, const TensorView& in, const TensorView& out) {
  if (stream.device().kind() == DeviceKind::cpu) return cast(stream, in, out);
  if (in.dtype() == DType::b128) return gather(stream, as_u64_pairs(in), as_u64_pairs(out));
  HugeGatherParams params;
  params.in = in.data();
  params.out = out.data();
  params.in_type = keeps_bits(in.dtype(), out.dtype(), {}) ? out.dtype() : in.dtype();
  params.out_type = out.dtype();
  params.generic_cast = needs_generic_cast(params.in_type, params.out_type, {});
  params.cast = element_cast(params.in_type, params.out_type, {});
  // By the general routine, where there is no instruction for the cast: the short code is what is checked.
  params.cast.quick = !params.generic_cast;
  params.rank = out.rank();
  params.elements = out.elements();
  for (int axis = 0; axis < params.rank; ++axis)
    params.axes[axis] = {static_cast<std::uint64_t>(out.extent(axis)), in.stride(axis), out.stride(axis)};
  kernels_of(stream).copy(context_of(stream), params);
}

}  // namespace relayout::bench::random
