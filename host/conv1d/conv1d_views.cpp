#include "host/conv1d/conv1d_views.hpp"

#include <cstdlib>
#include <string>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {

bool is_channels_last(const TensorView& ncl) {
  return ncl.extent(1) > 1 && std::llabs(used_stride(ncl, 1)) < std::llabs(used_stride(ncl, 2));
}

void check_problem_shape(const char* operation, const char* name, const TensorView& view, const Dims& shape) {
  if (view.shape() == shape) return;
  fail(operation, ErrorCode::shape,
       std::string(name) + " is " + view.to_string() + ", but the problem's is " + to_string(shape));
}

void check_conv_bias(const char* operation, const TensorView& bias, std::int64_t out_channels) {
  check_problem_shape(operation, "the bias", bias, {out_channels});
  if (bias.dtype() != DType::f32 || !bias.is_contiguous())
    fail(operation, ErrorCode::dtype, "the bias is " + bias.to_string() + ", but must be contiguous f32");
  check_pointer(operation, "the bias", bias);
}

TensorView allocate_in(std::vector<Buffer>& buffers, const Device& device, DType type, const Dims& shape) {
  const TensorView sized(nullptr, type, shape);
  buffers.emplace_back(device, static_cast<std::size_t>(sized.elements()) * size_of(type));
  return TensorView(buffers.back().data(), type, shape);
}

void check_host_view(const TensorView& view, const Dims& shape, const char* name) {
  check_problem_shape("conv1d", name, view, shape);
  if (!is_floating(view.dtype())) {
    throw Error(ErrorCode::dtype, std::string("conv1d: ") + name + " is " + name_of(view.dtype()) +
                                      "; f16, bf16, f32 and f64 can be cast");
  }
  check_pointer("conv1d", name, view);
}

}  // namespace relayout
