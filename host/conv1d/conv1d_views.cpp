#include "host/conv1d/conv1d_views.hpp"

#include <cstdlib>
#include <string>

#include "host/api/checks.hpp"
#include "relayout/error.hpp"

namespace relayout {

bool is_channels_last(const TensorView& ncl) {
  return ncl.extent(1) > 1 && std::llabs(used_stride(ncl, 1)) < std::llabs(used_stride(ncl, 2));
}

void check_host_view(const TensorView& view, const Dims& shape, const char* name) {
  if (view.shape() != shape) {
    throw Error(ErrorCode::shape, std::string("conv1d: ") + name + " is " + view.to_string() +
                                      ", but the problem's is " + to_string(shape));
  }
  if (!is_floating(view.dtype())) {
    throw Error(ErrorCode::dtype, std::string("conv1d: ") + name + " is " + name_of(view.dtype()) +
                                      "; f16, bf16, f32 and f64 can be cast");
  }
  check_pointer("conv1d", name, view);
}

}  // namespace relayout
