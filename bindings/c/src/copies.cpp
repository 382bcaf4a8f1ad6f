// permute, transpose, copy, contiguous and cast.
#include "bindings/c/src/handles.hpp"
#include "bindings/c/src/options.hpp"
#include "bindings/c/src/tensors.hpp"
#include "relayout/permute.hpp"

using namespace relayout;
using c::guarded;
using c::planned;

namespace {

/// The tensor that contiguous() writes.
relayout_tensor contiguous_output(const relayout_tensor* in, void* memory) {
  c::check_given(in, "in");
  relayout_tensor out = *in;
  out.data = memory;
  out.strides = nullptr;
  out.byte_offset = 0;
  return out;
}

}  // namespace

extern "C" {

relayout_status relayout_permute(const relayout_stream* stream, const relayout_tensor* in,
                                 const int32_t* axes, int32_t axis_count, const relayout_tensor* out,
                                 const relayout_copy_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const auto [from, to] = c::moved_views(on.device(), in, out);
    const CopyPlanOptions given = c::copy_options(options);
    permute(on, from, c::axes_of(axes, axis_count), to, given.scale, given.cast);
  });
}

relayout_status relayout_plan_permute(const relayout_device* device, const relayout_tensor* in,
                                      const int32_t* axes, int32_t axis_count, const relayout_tensor* out,
                                      const relayout_copy_options* options, relayout_plan** plan) {
  return planned(plan, [&] {
    const auto [from, to] = c::moved_views(c::device_of(device), in, out);
    return plan_permute(device->device, from, c::axes_of(axes, axis_count), to, c::copy_options(options));
  });
}

relayout_status relayout_transpose(const relayout_stream* stream, const relayout_tensor* in,
                                   const relayout_tensor* out, const relayout_copy_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const auto [from, to] = c::moved_views(on.device(), in, out);
    const CopyPlanOptions given = c::copy_options(options);
    transpose(on, from, to, given.scale, given.cast);
  });
}

relayout_status relayout_plan_transpose(const relayout_device* device, const relayout_tensor* in,
                                        const relayout_tensor* out, const relayout_copy_options* options,
                                        relayout_plan** plan) {
  return planned(plan, [&] {
    const auto [from, to] = c::moved_views(c::device_of(device), in, out);
    return plan_transpose(device->device, from, to, c::copy_options(options));
  });
}

relayout_status relayout_copy(const relayout_stream* stream, const relayout_tensor* in,
                              const relayout_tensor* out, const relayout_copy_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const auto [from, to] = c::moved_views(on.device(), in, out);
    const CopyPlanOptions given = c::copy_options(options);
    copy(on, from, to, given.scale, given.cast);
  });
}

relayout_status relayout_plan_copy(const relayout_device* device, const relayout_tensor* in,
                                   const relayout_tensor* out, const relayout_copy_options* options,
                                   relayout_plan** plan) {
  return planned(plan, [&] {
    const auto [from, to] = c::moved_views(c::device_of(device), in, out);
    return plan_copy(device->device, from, to, c::copy_options(options));
  });
}

relayout_status relayout_contiguous(const relayout_stream* stream, const relayout_tensor* in, void* memory) {
  return guarded([&] {
    const relayout_tensor out = contiguous_output(in, memory);
    const Stream& on = c::stream_of(stream);
    contiguous(on, c::moved_views(on.device(), in, &out).first, memory);
  });
}

relayout_status relayout_plan_contiguous(const relayout_device* device, const relayout_tensor* in,
                                         void* memory, relayout_plan** plan) {
  return planned(plan, [&] {
    const relayout_tensor out = contiguous_output(in, memory);
    return plan_contiguous(device->device, c::moved_views(c::device_of(device), in, &out).first, memory);
  });
}

relayout_status relayout_cast(const relayout_stream* stream, const relayout_tensor* in,
                              const relayout_tensor* out, const relayout_copy_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const CopyPlanOptions given = c::copy_options(options);
    cast(on, c::view_of(on.device(), in, "in"), c::view_of(on.device(), out, "out"), given.scale, given.cast);
  });
}

relayout_status relayout_plan_cast(const relayout_device* device, const relayout_tensor* in,
                                   const relayout_tensor* out, const relayout_copy_options* options,
                                   relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_cast(on, c::view_of(on, in, "in"), c::view_of(on, out, "out"), c::copy_options(options));
  });
}

}  // extern "C"
