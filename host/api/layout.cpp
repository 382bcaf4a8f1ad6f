#include "relayout/layout.hpp"

#include <algorithm>
#include <string>

#include "host/api/checks.hpp"
#include "host/plan/checked_math.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

std::int64_t channel_multiple(Layout layout) {
  return layout == Layout::nhwc8 ? 8 : layout == Layout::nhwc16 ? 16 : 1;
}

void check_axes(Layout layout, const Dims& shape) {
  check_enumerator("layouts", "the layout", layout, Layout::nhwc16);
  if (shape.size() >= 2) return;
  throw Error(ErrorCode::rank, std::string("The layout ") + name_of(layout) +
                                   " needs a shape of (N, C, ...), not " + to_string(shape) + ".");
}

/// The extents as they lie in memory, pads included.
Dims extents_in_memory(Layout layout, const Dims& shape) {
  check_axes(layout, shape);
  if (layout == Layout::ndarray) return shape;
  const std::int64_t multiple = channel_multiple(layout), over = shape[1] % multiple;
  Dims extents = shape;
  if (over > 0) extents[1] = plan::checked_sum({shape[1], multiple - over}, "The number of channels");
  std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
  return extents;
}

}  // namespace

const char* name_of(Layout layout) noexcept {
  switch (layout) {
    case Layout::ndarray:
      return "ndarray";
    case Layout::nhwc:
      return "nhwc";
    case Layout::nhwc8:
      return "nhwc8";
    case Layout::nhwc16:
      return "nhwc16";
  }
  return "unknown";
}

namespace {

/// Makes a call that throws where the extents in memory are too large or wrong. The error then names the
/// shape that the caller gave.
template <class Call>
auto of_layout(Layout layout, const Dims& shape, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    throw Error(error.code(), std::string("The shape ") + to_string(shape) + " in the layout " +
                                  name_of(layout) + ", in the order of the memory: " + error.what());
  }
}

Dims strides_of(Layout layout, const Dims& shape) {
  Dims strides = contiguous_strides(extents_in_memory(layout, shape));
  if (layout != Layout::ndarray) std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

}  // namespace

Dims strides_in(Layout layout, const Dims& shape) {
  check_axes(layout, shape);
  return of_layout(layout, shape, [&] { return strides_of(layout, shape); });
}

std::int64_t elements_in(Layout layout, const Dims& shape) {
  check_axes(layout, shape);
  return of_layout(layout, shape, [&] {
    return TensorView(nullptr, DType::u8, extents_in_memory(layout, shape)).elements();
  });
}

TensorView view_in(Layout layout, const void* data, DType dtype, const Dims& shape) {
  return TensorView(data, dtype, shape, strides_in(layout, shape));
}

}  // namespace relayout
