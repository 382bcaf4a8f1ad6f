// pad, img2col and the weights' rearrangement.
#include "bindings/c/src/handles.hpp"
#include "bindings/c/src/options.hpp"
#include "bindings/c/src/tensors.hpp"
#include "relayout/img2col.hpp"

using namespace relayout;
using c::guarded;
using c::planned;

extern "C" {

relayout_status relayout_pad(const relayout_stream* stream, const relayout_tensor* in,
                             const relayout_pad_options* spec, const relayout_tensor* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    pad(on, c::view_of(on.device(), in, "in"), c::pad_spec(spec), c::view_of(on.device(), out, "out"));
  });
}

relayout_status relayout_plan_pad(const relayout_device* device, const relayout_tensor* in,
                                  const relayout_pad_options* spec, const relayout_tensor* out,
                                  relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_pad(on, c::view_of(on, in, "in"), c::pad_spec(spec), c::view_of(on, out, "out"));
  });
}

relayout_status relayout_output_length(int64_t length, const relayout_window_options* window,
                                       const relayout_pad_options* spec, int64_t* positions) {
  return guarded([&] {
    c::check_given(positions, "positions");
    *positions = output_length(length, c::window_of(window), c::pad_spec(spec));
  });
}

relayout_status relayout_img2col(const relayout_stream* stream, const relayout_tensor* in,
                                 const relayout_window_options* window, const relayout_pad_options* spec,
                                 const relayout_tensor* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    img2col(on, c::view_of(on.device(), in, "in"), c::window_of(window), c::pad_spec(spec),
            c::view_of(on.device(), out, "out"));
  });
}

relayout_status relayout_plan_img2col(const relayout_device* device, const relayout_tensor* in,
                                      const relayout_window_options* window, const relayout_pad_options* spec,
                                      const relayout_tensor* out, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_img2col(on, c::view_of(on, in, "in"), c::window_of(window), c::pad_spec(spec),
                        c::view_of(on, out, "out"));
  });
}

relayout_status relayout_rearrange_weights(const relayout_stream* stream, const relayout_tensor* weights,
                                           int32_t channel_outer, const relayout_tensor* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    rearrange_weights(on, c::view_of(on.device(), weights, "weights"), c::column_order(channel_outer),
                      c::view_of(on.device(), out, "out"));
  });
}

relayout_status relayout_plan_rearrange_weights(const relayout_device* device, const relayout_tensor* weights,
                                                int32_t channel_outer, const relayout_tensor* out,
                                                relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_rearrange_weights(on, c::view_of(on, weights, "weights"), c::column_order(channel_outer),
                                  c::view_of(on, out, "out"));
  });
}

}  // extern "C"
