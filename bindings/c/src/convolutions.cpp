// Depthwise convolutions, the GEMM, and whole convolutions with prepared weights.
#include "bindings/c/src/handles.hpp"
#include "bindings/c/src/options.hpp"
#include "bindings/c/src/tensors.hpp"

using namespace relayout;
using c::activation_of;
using c::guarded;
using c::optional_view;
using c::planned;
using c::view_of;

namespace {

/// Error{rank}: with fewer axes there is no problem to speak of.
void check_axes(const TensorView& view, int rank, const char* name) {
  if (view.rank() != rank) {
    throw Error(ErrorCode::rank, std::string("conv1d: ") + name + " " + view.to_string() + " needs " +
                                     std::to_string(rank) + " axes");
  }
}

Conv1d problem_of(const TensorView& in, const TensorView& weights, const Window& window, const PadSpec& pad,
                  const TensorView& y) {
  check_axes(in, 3, "in");
  check_axes(weights, 3, "weights");
  check_axes(y, 3, "y");
  Conv1d problem;
  problem.batch = in.extent(0);
  problem.in_channels = in.extent(1);
  problem.length = in.extent(2);
  problem.out_channels = weights.extent(0);
  problem.window = window;
  problem.pad = pad;
  problem.dtype = y.dtype();
  return problem;
}

constexpr relayout_depthwise_gradients kNoGradients = [] {
  relayout_depthwise_gradients none{};
  none.struct_size = sizeof none;
  return none;
}();

/// The views of a backward pass. Where it may lack a d_in, that is as the input, without memory.
struct BackwardViews {
  DepthwiseForward forward;
  DepthwiseGradients gradients;
  TensorView workspace;

  BackwardViews(const Device& on, const relayout_depthwise_gradients* given, bool may_lack_d_in) {
    c::check_given(given, "gradients");
    const relayout_depthwise_gradients g = c::read_options(given, kNoGradients);
    forward = {view_of(on, g.in, "in"),
               view_of(on, g.weights, "weights"),
               optional_view(on, g.bias, "bias"),
               activation_of(g.silu),
               optional_view(on, g.initial_state, "initial_state"),
               optional_view(on, g.sequence_ids, "sequence_ids")};
    gradients = {view_of(on, g.d_out, "d_out"),
                 optional_view(on, g.d_final_state, "d_final_state"),
                 may_lack_d_in && g.d_in == nullptr
                     ? TensorView(nullptr, forward.in.dtype(), forward.in.shape())
                     : view_of(on, g.d_in, "d_in"),
                 optional_view(on, g.d_weights, "d_weights"),
                 optional_view(on, g.d_bias, "d_bias"),
                 optional_view(on, g.d_initial_state, "d_initial_state")};
    workspace = optional_view(on, g.workspace, "workspace");
  }
};

}  // namespace

extern "C" {

relayout_status relayout_depthwise_gradients_init(relayout_depthwise_gradients* gradients,
                                                  uint64_t struct_size) {
  return c::set_defaults(gradients, struct_size, kNoGradients);
}

relayout_status relayout_depthwise_conv1d_backward(const relayout_stream* stream,
                                                   const relayout_depthwise_gradients* gradients) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const BackwardViews views(on.device(), gradients, false);
    depthwise_conv1d_backward(on, views.forward, views.gradients, views.workspace);
  });
}

relayout_status relayout_plan_depthwise_conv1d_backward(const relayout_device* device,
                                                        const relayout_depthwise_gradients* gradients,
                                                        relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    const BackwardViews views(on, gradients, false);
    return plan_depthwise_conv1d_backward(on, views.forward, views.gradients, views.workspace);
  });
}

relayout_status relayout_depthwise_conv1d_backward_workspace_bytes(
    const relayout_device* device, const relayout_depthwise_gradients* gradients, uint64_t* bytes) {
  return guarded([&] {
    const Device& on = c::device_of(device);
    c::check_given(bytes, "bytes");
    const BackwardViews views(on, gradients, true);
    *bytes = depthwise_conv1d_backward_workspace_bytes(on, views.forward, views.gradients);
  });
}

relayout_status relayout_depthwise_conv1d(const relayout_stream* stream, const relayout_tensor* in,
                                          const relayout_tensor* weights, const relayout_tensor* bias,
                                          int32_t silu, const relayout_tensor* initial_state,
                                          const relayout_tensor* out, const relayout_tensor* final_state,
                                          const relayout_tensor* sequence_ids) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const Device& device = on.device();
    depthwise_conv1d(on, view_of(device, in, "in"), view_of(device, weights, "weights"),
                     optional_view(device, bias, "bias"), activation_of(silu),
                     optional_view(device, initial_state, "initial_state"), view_of(device, out, "out"),
                     optional_view(device, final_state, "final_state"),
                     optional_view(device, sequence_ids, "sequence_ids"));
  });
}

relayout_status relayout_plan_depthwise_conv1d(const relayout_device* device, const relayout_tensor* in,
                                               const relayout_tensor* weights, const relayout_tensor* bias,
                                               int32_t silu, const relayout_tensor* initial_state,
                                               const relayout_tensor* out, const relayout_tensor* final_state,
                                               const relayout_tensor* sequence_ids, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_depthwise_conv1d(
        on, view_of(on, in, "in"), view_of(on, weights, "weights"), optional_view(on, bias, "bias"),
        activation_of(silu), optional_view(on, initial_state, "initial_state"), view_of(on, out, "out"),
        optional_view(on, final_state, "final_state"), optional_view(on, sequence_ids, "sequence_ids"));
  });
}

relayout_status relayout_depthwise_update(const relayout_stream* stream, const relayout_tensor* state,
                                          const relayout_tensor* samples, const relayout_tensor* weights,
                                          const relayout_tensor* bias, int32_t silu,
                                          const relayout_tensor* out) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const Device& device = on.device();
    depthwise_update(on, view_of(device, state, "state"), view_of(device, samples, "samples"),
                     view_of(device, weights, "weights"), optional_view(device, bias, "bias"),
                     activation_of(silu), view_of(device, out, "out"));
  });
}

relayout_status relayout_plan_depthwise_update(const relayout_device* device, const relayout_tensor* state,
                                               const relayout_tensor* samples, const relayout_tensor* weights,
                                               const relayout_tensor* bias, int32_t silu,
                                               const relayout_tensor* out, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_depthwise_update(on, view_of(on, state, "state"), view_of(on, samples, "samples"),
                                 view_of(on, weights, "weights"), optional_view(on, bias, "bias"),
                                 activation_of(silu), view_of(on, out, "out"));
  });
}

relayout_status relayout_gemm(const relayout_stream* stream, const relayout_tensor* a,
                              const relayout_tensor* bt, const relayout_tensor* bias,
                              const relayout_tensor* y, const relayout_tensor* workspace) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const Device& device = on.device();
    gemm(on, view_of(device, a, "a"), view_of(device, bt, "bt"), optional_view(device, bias, "bias"),
         view_of(device, y, "y"), optional_view(device, workspace, "workspace"));
  });
}

relayout_status relayout_plan_gemm(const relayout_device* device, const relayout_tensor* a,
                                   const relayout_tensor* bt, const relayout_tensor* bias,
                                   const relayout_tensor* y, const relayout_tensor* workspace,
                                   relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_gemm(on, view_of(on, a, "a"), view_of(on, bt, "bt"), optional_view(on, bias, "bias"),
                     view_of(on, y, "y"), optional_view(on, workspace, "workspace"));
  });
}

relayout_status relayout_gemm_workspace_bytes(const relayout_device* device, const relayout_tensor* y,
                                              int32_t with_bias, uint64_t* bytes) {
  return guarded([&] {
    const Device& on = c::device_of(device);
    c::check_given(bytes, "bytes");
    *bytes = gemm_workspace_bytes(on, view_of(on, y, "y"), with_bias != 0);
  });
}

relayout_status relayout_plan_conv1d(const relayout_stream* stream, const relayout_tensor* in,
                                     const relayout_tensor* weights, const relayout_tensor* bias,
                                     const relayout_window_options* window, const relayout_pad_options* pad,
                                     int32_t route, const relayout_tensor* y, relayout_plan** plan) {
  return planned(plan, [&] {
    const Stream& on = c::stream_of(stream);
    const TensorView from = view_of(on.device(), in, "in");
    const TensorView taps = view_of(on.device(), weights, "weights");
    const TensorView to = view_of(on.device(), y, "y");
    ConvPlan conv(on, problem_of(from, taps, c::window_of(window), c::pad_spec(pad), to),
                  c::enumerator<ConvRoute>(route, RELAYOUT_ROUTE_DIRECT + 1, "route"), taps,
                  optional_view(on.device(), bias, "bias"));
    static_cast<void>(conv.explain(from, to));  // an input or a y of another shape is an error here
    return std::make_shared<c::ConvRun>(std::move(conv), from, to);
  });
}

}  // extern "C"
