#include "bindings/python/jax/plans.hpp"

#include <iterator>

namespace relayout::jax {
namespace {

relayout_copy_options copy_options(const Specification& s) {
  relayout_copy_options options;
  check(relayout_copy_options_init(&options, sizeof options));
  options.rounding = static_cast<std::int32_t>(s.integer("rounding", options.rounding));
  options.saturate_fp8 = static_cast<std::int32_t>(s.integer("saturate_fp8", options.saturate_fp8));
  options.saturate_integers =
      static_cast<std::int32_t>(s.integer("saturate_integers", options.saturate_integers));
  return options;
}

relayout_pad_options pad_options(const Specification& s) {
  relayout_pad_options options;
  check(relayout_pad_options_init(&options, sizeof options));
  options.left = s.integer("left", 0);
  options.right = s.integer("right", 0);
  options.mode = static_cast<std::int32_t>(s.integer("mode", RELAYOUT_PAD_CONSTANT));
  options.extended = static_cast<std::int32_t>(s.integer("extended", 0));
  options.value = s.real("value", 0);
  return options;
}

relayout_window_options window_options(const Specification& s) {
  relayout_window_options options;
  check(relayout_window_options_init(&options, sizeof options));
  options.taps = s.integer("taps", 1);
  options.stride = s.integer("stride", 1);
  options.dilation = s.integer("dilation", 1);
  options.groups = s.integer("groups", 1);
  options.channel_outer = static_cast<std::int32_t>(s.integer("channel_outer", 0));
  return options;
}

/// The operands of a chain in their order: "t" is the next tensor, other words are a kind of number and its
/// value.
std::vector<relayout_operand> operands_of(const Specification& s, const Slots& slots) {
  std::vector<relayout_operand> operands;
  std::size_t tensors = 0;
  for (const std::string& word : s.list("operands")) {
    relayout_operand operand{};
    const std::string value = word.substr(1);
    if (word[0] == 't') {
      operand.kind = RELAYOUT_OPERAND_TENSOR;
      operand.tensor = slots.at(tensors++);
    } else if (word[0] == 'f') {
      operand.kind = RELAYOUT_OPERAND_FLOATING;
      operand.floating = std::strtod(value.c_str(), nullptr);
    } else if (word[0] == 'u') {
      operand.kind = RELAYOUT_OPERAND_UNSIGNED;
      operand.integer = static_cast<std::int64_t>(std::strtoull(value.c_str(), nullptr, 10));
    } else {
      operand.kind = word[0] == 'b' ? RELAYOUT_OPERAND_BOOLEAN : RELAYOUT_OPERAND_INTEGER;
      operand.integer = Specification::to_integer(value);
    }
    operands.push_back(operand);
  }
  return operands;
}

relayout_plan* plan_chain(const Specification& s, const Slots& slots, const relayout_device* device) {
  const std::vector<relayout_operand> operands = operands_of(s, slots);
  const std::vector<std::int32_t> running = s.integers<std::int32_t>("running");
  std::vector<relayout_step> steps;
  for (const std::string& name : s.list("steps")) {
    steps.push_back({name.c_str(), steps.size() < running.size() ? running[steps.size()] : 0, 0});
  }
  relayout_elementwise_options options;
  check(relayout_elementwise_options_init(&options, sizeof options));
  options.cast_out = static_cast<std::int32_t>(s.integer("cast_out", 0));
  relayout_operand out{};
  out.kind = RELAYOUT_OPERAND_TENSOR;
  out.tensor = slots.back();
  relayout_plan* plan = nullptr;
  check(relayout_plan_chain(device, steps.data(), static_cast<std::int32_t>(steps.size()), operands.data(),
                            static_cast<std::int32_t>(operands.size()), &out, &options, &plan));
  return plan;
}

relayout_plan* plan_backward(const Specification& s, const Slots& slots, const relayout_device* device) {
  relayout_depthwise_gradients g;
  check(relayout_depthwise_gradients_init(&g, sizeof g));
  const relayout_tensor** const members[] = {
      &g.in,   &g.weights,   &g.bias,      &g.initial_state, &g.sequence_ids,   &g.d_out, &g.d_final_state,
      &g.d_in, &g.workspace, &g.d_weights, &g.d_bias,        &g.d_initial_state};
  for (std::size_t i = 0; i < std::size(members); ++i) *members[i] = slots.at(i);
  g.silu = static_cast<std::int32_t>(s.integer("silu", 0));
  relayout_plan* plan = nullptr;
  check(relayout_plan_depthwise_conv1d_backward(device, &g, &plan));
  return plan;
}

}  // namespace

std::size_t slot_count(const std::string& operation, std::size_t buffer_count) {
  if (operation == "depthwise_conv1d") return 7;
  if (operation == "depthwise_conv1d_backward") return 12;
  return buffer_count;
}

Exchangeable exchangeable(const std::string& operation, std::size_t slot_count) {
  if (operation == "depthwise_conv1d") return {{0}, 5};
  if (operation == "depthwise_conv1d_backward") return {{0, 5, 8}, 7};
  Exchangeable all{{}, slot_count - 1};
  for (std::size_t i = 0; i + 1 < slot_count; ++i) all.inputs.push_back(i);
  return all;
}

relayout_plan* make_plan(const Specification& s, const Slots& slots, const relayout_device* device) {
  if (s.operation == "chain") return plan_chain(s, slots, device);
  if (s.operation == "depthwise_conv1d_backward") return plan_backward(s, slots, device);
  relayout_plan* plan = nullptr;
  if (s.operation == "depthwise_conv1d") {
    check(relayout_plan_depthwise_conv1d(device, slots.at(0), slots.at(1), slots.at(2),
                                         static_cast<std::int32_t>(s.integer("silu", 0)), slots.at(3),
                                         slots.at(5), slots.at(6), slots.at(4), &plan));
    return plan;
  }
  const relayout_tensor *const in = slots.at(0), *const out = slots.at(1);
  if (s.operation == "permute") {
    const std::vector<std::int32_t> axes = s.integers<std::int32_t>("axes");
    const relayout_copy_options options = copy_options(s);
    check(relayout_plan_permute(device, in, axes.data(), static_cast<std::int32_t>(axes.size()), out,
                                &options, &plan));
  } else if (s.operation == "cast") {
    const relayout_copy_options options = copy_options(s);
    check(relayout_plan_cast(device, in, out, &options, &plan));
  } else if (s.operation == "pad") {
    const relayout_pad_options options = pad_options(s);
    check(relayout_plan_pad(device, in, &options, out, &plan));
  } else if (s.operation == "img2col") {
    const relayout_window_options window = window_options(s);
    const relayout_pad_options pad = pad_options(s);
    check(relayout_plan_img2col(device, in, &window, &pad, out, &plan));
  } else {
    throw Failure("relayout has no operation '" + s.operation + "' for jax");
  }
  return plan;
}

}  // namespace relayout::jax
