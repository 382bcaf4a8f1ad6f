// Depthwise work that was checked: run at once, or kept as a plan.
#include <memory>
#include <string>
#include <utility>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/depthwise.hpp"
#include "host/api/depthwise_checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/planned_for.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/plan/depthwise/depthwise_sequence_plan.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void plan_work(const DeviceProperties& device, bool native, DepthwiseParams& params) {
  plan::plan_depthwise(device, native, params);
}
void plan_work(const DeviceProperties& device, bool native, DepthwiseSequenceParams& params) {
  plan::plan_depthwise_sequences(device, native, params);
}

void launch_work(const Stream& stream, const DepthwiseParams& params) { launch_depthwise(stream, params); }
void launch_work(const Stream& stream, const DepthwiseSequenceParams& params) {
  if (params.kernel == DepthwiseSequenceKernel::nothing) return;
  kernels_of(stream).depthwise_sequences(context_of(stream), params);
}

void set_addresses(DepthwiseParams& params, const void* in, void* out) {
  params.in = in;
  params.out = out;
}
void set_addresses(DepthwiseSequenceParams& params, const void* in, void* out) {
  params.conv.in = in;
  (params.task == DepthwiseSequenceTask::states ? params.conv.state : params.conv.out) = out;
}

plan::DepthwiseAlignment alignment_of(const DepthwiseParams& params) {
  return plan::depthwise_alignment(params);
}
/// The launcher of sequences looks at the addresses themselves.
plan::DepthwiseAlignment alignment_of(const DepthwiseSequenceParams& /*params*/) { return {}; }

std::string explain_work(const DeviceProperties& device, const DepthwiseParams& params) {
  return plan::explain_depthwise(device, params);
}
std::string explain_work(const DeviceProperties& /*device*/, const DepthwiseSequenceParams& params) {
  return plan::explain_depthwise_sequences(params);
}

void check_views(const char* operation, const DepthwiseViews& views, const TensorView& in,
                 const TensorView& out, Pointers pointers) {
  std::vector<const TensorView*> inputs, outputs{&out};
  if (!views.may_be_in_place || !is_same_place(in, out)) inputs.push_back(&in);
  for (const TensorView& view : views.inputs) inputs.push_back(&view);
  for (const TensorView& view : views.outputs) outputs.push_back(&view);
  DepthwiseCheck(operation).memory(inputs, outputs, pointers);
}

}  // namespace

bool is_same_place(const TensorView& a, const TensorView& b) {
  return a.data() == b.data() && a.data() != nullptr && a.dtype() == b.dtype() && have_same_places(a, b);
}

struct DepthwisePlan::State {
  const char* operation = "";
  DepthwiseWork work;
  DepthwiseViews views;
  PlannedFor target;
};

void launch_depthwise(const Stream& stream, const DepthwiseParams& params) {
  if (params.kernel == DepthwiseKernel::nothing) return;
  kernels_of(stream).depthwise(context_of(stream), params);
}

void run_depthwise(const Stream& stream, DepthwiseWork work) {
  const Device& device = stream.device();
  std::visit(
      [&](auto& params) {
        plan_work(device.properties(), is_native(device), params);
        launch_work(stream, params);
      },
      work);
}

DepthwisePlan make_depthwise_plan(const char* operation, const PlanTarget& target, const DepthwiseWork& work,
                                  DepthwiseViews views) {
  auto state = std::make_shared<DepthwisePlan::State>();
  state->operation = operation;
  state->work = work;
  state->views = std::move(views);
  state->target = PlannedFor(target);
  check_views(operation, state->views, state->views.in, state->views.out, Pointers::may_be_null);
  std::visit([&](auto& params) { plan_work(target.properties(), is_native(target), params); }, state->work);
  return DepthwisePlan(std::move(state));
}

void DepthwisePlan::run(const Stream& stream) const {
  const State& state = *state_;
  state.target.check(state.operation, stream);
  check_views(state.operation, state.views, state.views.in, state.views.out, Pointers::given);
  std::visit([&](const auto& params) { launch_work(stream, params); }, state.work);
}

void DepthwisePlan::run(const Stream& stream, const void* in, void* out) const {
  const State& state = *state_;
  state.target.check(state.operation, stream);
  std::visit(
      [&](auto params) {
        const plan::DepthwiseAlignment alignment = alignment_of(params);
        check_plan_alignment(state.operation, "input", alignment.in, in);
        check_plan_alignment(state.operation, "output", alignment.out, out);
        check_views(state.operation, state.views, at_address(state.views.in, in),
                    at_address(state.views.out, out), Pointers::given);
        set_addresses(params, in, out);
        launch_work(stream, params);
      },
      state.work);
}

std::string DepthwisePlan::explain() const {
  const State& state = *state_;
  return plan::heading(state.operation, {&state.views.in, state.views.inputs.data()}, state.views.out,
                       state.target.name(), state.target.properties()) +
         std::visit([&](const auto& params) { return explain_work(state.target.properties(), params); },
                    state.work);
}

}  // namespace relayout
