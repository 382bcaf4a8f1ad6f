#include "relayout/depthwise.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/plan/loop_nest.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// A default TensorView stands for "none"; a state of one tap has no columns and may have no memory.
bool is_given(const TensorView& view) { return view.data() != nullptr || view.rank() > 0; }

/// The views of one call, by name. `operation` is the name of the public function.
class Check {
 public:
  explicit Check(const char* operation) : operation_(operation) {}

  void signal_type(const TensorView& in) const {
    if (in.dtype() == DType::f16 || in.dtype() == DType::bf16 || in.dtype() == DType::f32) return;
    fail(ErrorCode::dtype,
         std::string("the input is ") + name_of(in.dtype()) + " and must be f16, bf16 or f32");
  }
  void same_type(const char* name, const TensorView& view, const TensorView& in) const {
    if (view.dtype() == in.dtype()) return;
    fail(ErrorCode::dtype, std::string(name) + " of type " + name_of(view.dtype()) +
                               " must have the input's, " + name_of(in.dtype()));
  }
  void number_type(const char* name, const TensorView& view, const TensorView& in) const {
    if (view.dtype() == DType::f32 || view.dtype() == in.dtype()) return;
    fail(ErrorCode::dtype, std::string(name) + " of type " + name_of(view.dtype()) +
                               " must have type f32 or the input's, " + name_of(in.dtype()));
  }
  void shape(const char* name, const TensorView& view, const Dims& wanted) const {
    check_rank(operation_, name, view, static_cast<int>(wanted.size()));
    if (view.shape() == wanted) return;
    fail(ErrorCode::shape,
         std::string(name) + " has shape " + to_string(view.shape()) + " and must have " + to_string(wanted));
  }
  /// Outputs share no byte with any other view.
  void memory(const std::vector<const TensorView*>& inputs,
              const std::vector<const TensorView*>& outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!is_given(*outputs[i])) continue;
      check_output(operation_, *outputs[i]);
      for (const TensorView* in : inputs) {
        if (is_given(*in)) check_memory(operation_, *in, *outputs[i]);
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (is_given(*outputs[j]) && !plan::ranges_disjoint(*outputs[i], *outputs[j])) {
          fail(ErrorCode::partial_overlap,
               "the outputs " + outputs[j]->to_string() + " and " + outputs[i]->to_string() + " share bytes");
        }
      }
    }
  }
  [[noreturn]] void fail(ErrorCode code, const std::string& words) const {
    throw Error(code, std::string(operation_) + ": " + words);
  }

 private:
  const char* operation_;
};

/// What both functions have in common; returns the number of taps.
std::int64_t check_common(const Check& check, const char* operation, const TensorView& in,
                          const TensorView& weights, const TensorView& bias, const TensorView& out) {
  check_rank(operation, "the input", in, 3);
  check_rank(operation, "the weights", weights, 2);
  check.signal_type(in);
  check.same_type("the output", out, in);
  check.number_type("the weights", weights, in);
  const std::int64_t channels = in.extent(1), taps = weights.extent(1);
  if (taps < 1)
    check.fail(ErrorCode::invalid_argument, "the weights " + weights.to_string() + " have no taps");
  check.shape("the weights", weights, {channels, taps});
  if (is_given(bias)) {
    check.number_type("the bias", bias, in);
    check.shape("the bias", bias, {channels});
  }
  check.shape("the output", out, in.shape());
  return taps;
}

/// The stride of an axis with one index is never used: 0, whatever the view says.
std::int64_t used_stride(const TensorView& view, int axis) {
  return view.extent(axis) > 1 ? view.stride(axis) : 0;
}

DepthwiseParams common_params(const TensorView& in, const TensorView& weights, const TensorView& bias,
                              Activation activation, const TensorView& out) {
  DepthwiseParams params;
  params.in = in.data();
  params.weights = weights.data();
  params.out = out.data();
  params.type = in.dtype();
  params.weight_type = weights.dtype();
  params.batch = in.extent(0);
  params.channels = in.extent(1);
  params.length = in.extent(2);
  params.taps = weights.extent(1);
  params.in_batch = used_stride(in, 0);
  params.in_channel = used_stride(in, 1);
  params.in_time = used_stride(in, 2);
  params.out_batch = used_stride(out, 0);
  params.out_channel = used_stride(out, 1);
  params.out_time = used_stride(out, 2);
  params.weight_channel = used_stride(weights, 0);
  params.weight_tap = used_stride(weights, 1);
  if (is_given(bias)) {
    params.bias = bias.data();
    params.bias_type = bias.dtype();
    params.bias_channel = used_stride(bias, 0);
  }
  params.silu = activation == Activation::silu;
  return params;
}

void set_initial_state(DepthwiseParams& params, const TensorView& state) {
  params.initial_state = state.data();
  params.initial_batch = used_stride(state, 0);
  params.initial_channel = used_stride(state, 1);
  params.initial_time = used_stride(state, 2);
}

void set_state(DepthwiseParams& params, const TensorView& state) {
  params.state = state.data();
  params.state_length = state.extent(2);
  params.state_batch = used_stride(state, 0);
  params.state_channel = used_stride(state, 1);
  params.state_time = used_stride(state, 2);
}

void choose_path(DepthwiseParams& params, const DeviceProperties& device) {
  plan::DepthwiseAccess access;
  access.in = reinterpret_cast<std::uintptr_t>(params.in);
  access.out = reinterpret_cast<std::uintptr_t>(params.out);
  access.element_bytes = static_cast<std::int64_t>(size_of(params.type));
  access.batch = params.batch;
  access.channels = params.channels;
  access.length = params.length;
  access.taps = params.taps;
  access.in_batch = params.in_batch;
  access.in_channel = params.in_channel;
  access.in_time = params.in_time;
  access.out_batch = params.out_batch;
  access.out_channel = params.out_channel;
  access.out_time = params.out_time;
  const plan::DepthwisePlan plan = plan::plan_depthwise(access, params.ids != nullptr, device);
  params.path = plan.axis == plan::DepthwiseAxis::time      ? DepthwisePath::time
                : plan.axis == plan::DepthwiseAxis::channel ? DepthwisePath::channel
                                                            : DepthwisePath::scalar;
  params.lanes = plan.lanes;
  params.run = plan.run;
  params.lanes_along_time = plan.along_time;
}

}  // namespace

void depthwise_conv1d(const Stream& stream, const TensorView& in, const TensorView& weights,
                      const TensorView& bias, Activation activation, const TensorView& initial_state,
                      const TensorView& out, const TensorView& final_state, const TensorView& sequence_ids) {
  const char* operation = "depthwise_conv1d";
  const Check check(operation);
  const std::int64_t taps = check_common(check, operation, in, weights, bias, out);
  const Dims state_shape{in.extent(0), in.extent(1), taps - 1};
  for (const auto& [name, state] :
       {std::pair<const char*, const TensorView&>{"the initial state", initial_state},
        {"the final state", final_state}}) {
    if (!is_given(state)) continue;
    check.same_type(name, state, in);
    check.shape(name, state, state_shape);
    if (is_given(sequence_ids)) {
      check.fail(
          ErrorCode::invalid_argument,
          std::string(name) + " cannot be given together with sequence ids: a state belongs to one sequence");
    }
  }
  if (is_given(sequence_ids)) {
    if (sequence_ids.dtype() != DType::i32) {
      check.fail(ErrorCode::dtype,
                 std::string("the sequence ids are ") + name_of(sequence_ids.dtype()) + " and must be i32");
    }
    check.shape("the sequence ids", sequence_ids, {in.extent(0), in.extent(2)});
  }
  check.memory({&in, &weights, &bias, &initial_state, &sequence_ids}, {&out, &final_state});
  const bool wants_state = is_given(final_state) && final_state.elements() > 0;
  if (out.elements() == 0 && !wants_state) return;

  DepthwiseParams params = common_params(in, weights, bias, activation, out);
  if (is_given(initial_state)) set_initial_state(params, initial_state);
  if (wants_state) set_state(params, final_state);
  if (is_given(sequence_ids)) {
    params.ids = static_cast<const std::int32_t*>(sequence_ids.data());
    params.id_batch = used_stride(sequence_ids, 0);
    params.id_time = used_stride(sequence_ids, 1);
  }
  choose_path(params, stream.device().properties());
  kernels_of(stream).depthwise(context_of(stream), params);
}

void depthwise_update(const Stream& stream, const TensorView& state, const TensorView& samples,
                      const TensorView& weights, const TensorView& bias, Activation activation,
                      const TensorView& out) {
  const char* operation = "depthwise_update";
  const Check check(operation);
  const std::int64_t taps = check_common(check, operation, samples, weights, bias, out);
  check_rank(operation, "the state", state, 3);
  check.same_type("the state", state, samples);
  const std::int64_t columns = state.extent(2);
  if (columns < taps - 1) {
    check.fail(ErrorCode::shape, "the state " + to_string(state.shape()) + " has fewer columns than the " +
                                     std::to_string(taps - 1) + " samples before " + std::to_string(taps) +
                                     " taps");
  }
  check.shape("the state", state, {samples.extent(0), samples.extent(1), columns});
  check.memory({&samples, &weights, &bias}, {&out, &state});
  if (out.elements() == 0) return;

  DepthwiseParams params = common_params(samples, weights, bias, activation, out);
  set_initial_state(params, state.slice(2, columns - (taps - 1), columns));
  set_state(params, state);
  kernels_of(stream).depthwise_update(context_of(stream), params);
}

}  // namespace relayout
