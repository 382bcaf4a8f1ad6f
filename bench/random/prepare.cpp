#include "bench/random/prepare.hpp"

#include "bench/random/functions.hpp"

namespace relayout::bench::random {
namespace {

using Views = std::vector<TensorView>;
using OnMemory = std::function<void(const Views& inputs, const TensorView& out)>;

bool is_copy(const Problem& problem) {
  return problem.family == Family::permute || problem.family == Family::slice ||
         problem.family == Family::cast;
}

bool is_elementwise(const Problem& problem) {
  return problem.family == Family::binary || problem.family == Family::unary;
}

std::vector<relayout::Operand> elementwise_operands(const Views& inputs) {
  return std::vector<relayout::Operand>(inputs.begin(), inputs.end());
}

/// The name in "Kernel NAME: ...", which a plan's explanation has.
std::string kernel_in(const std::string& explanation) {
  static const std::string kBefore = "Kernel ";
  const std::size_t found = explanation.find(kBefore);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + kBefore.size();
  return explanation.substr(begin, explanation.find_first_of(":\n", begin) - begin);
}

/// The number in "Predicted: NUMBER us", 0 where there is none.
double microseconds_in(const std::string& explanation) {
  static const std::string kBefore = "Predicted: ";
  const std::size_t found = explanation.find(kBefore);
  return found == std::string::npos ? 0 : std::stod(explanation.substr(found + kBefore.size()));
}

QuantizedPlan quantized_plan(const Stream& stream, const Problem& problem, const Views& inputs,
                             const TensorView& out) {
  const std::size_t operands = operands_of(problem);
  if (problem.function == "dequantize")
    return plan_dequantize(stream.device(), quantized_tensor(problem, 0, inputs[0], inputs), out);
  const QuantizedTensor codes = quantized_tensor(problem, operands, out, inputs);
  if (problem.function == "quantize") return plan_quantize(stream.device(), inputs[0], codes);
  std::vector<QuantizedOperand> tensors;
  for (std::size_t i = 0; i < operands; ++i)
    tensors.emplace_back(quantized_tensor(problem, i, inputs[i], inputs));
  return plan_quantized(stream.device(), operation_of(problem.function), tensors, codes);
}

DepthwisePlan depthwise_plan(const Stream& stream, const Problem& problem, const Views& inputs,
                             const TensorView& out) {
  return plan_depthwise_conv1d(stream.device(), inputs[0], inputs[1], bias_of(inputs), activation_of(problem),
                               TensorView(), out);
}

/// What a plan says of itself, of the families whose calls plan anew each time.
std::string explained(const Stream& stream, const Problem& problem, const Ready& ready) {
  const Device& device = stream.device();
  const auto& [inputs, out] = ready.sets[0];
  switch (problem.family) {
    case Family::depthwise:
      return depthwise_plan(stream, problem, inputs, out).explain();
    case Family::img2col:
      return plan_img2col(device, inputs[0], window_of(problem), pad_of(problem), out).explain();
    case Family::pad:
      return plan_pad(device, inputs[0], pad_of(problem), out).explain();
    default:
      return quantized_plan(stream, problem, inputs, out).explain();
  }
}

/// Planned once where the library has plans that run on other memory.
OnMemory planned(const Stream& stream, const Problem& problem, Ready& ready) {
  const auto& [in_views, out_view] = ready.sets[0];
  if (is_copy(problem)) {
    const CopyPlan plan = plan_cast(stream.device(), in_views[0], out_view);
    const CopyDetails details = plan.details();
    ready.kernel = name_of(details.kernel);
    ready.predicted_seconds = details.microseconds * 1e-6;
    return [stream, plan](const Views& inputs, const TensorView& out) {
      plan.run(stream, inputs[0].data(), out.data());
    };
  }
  if (is_elementwise(problem)) {
    const ElementwisePlan plan = plan_elementwise(stream.device(), operation_of(problem.function),
                                                  elementwise_operands(in_views), out_view);
    ready.kernel = kernel_in(plan.explain());
    return [stream, plan](const Views& inputs, const TensorView& out) {
      std::vector<const void*> addresses;
      for (const TensorView& input : inputs) addresses.push_back(input.data());
      plan.run(stream, addresses, out.data());
    };
  }
  const std::string explanation = explained(stream, problem, ready);
  ready.kernel = kernel_in(explanation);
  ready.predicted_seconds = microseconds_in(explanation) * 1e-6;
  return [stream, problem](const Views& inputs, const TensorView& out) { run(stream, problem, inputs, out); };
}

}  // namespace

std::size_t operands_of(const Problem& problem) {
  if (problem.family != Family::quantized) return problem.inputs.size();
  if (problem.function == "quantize" || problem.function == "dequantize") return 1;
  return static_cast<std::size_t>(relayout::operands_of(operation_of(problem.function)));
}

QuantizedTensor quantized_tensor(const Problem& problem, std::size_t i, const TensorView& codes,
                                 const Views& inputs) {
  const std::string number = std::to_string(i);
  const std::size_t operands = operands_of(problem);
  QuantizedTensor tensor{codes, 1.0f, static_cast<int>(problem.number("zero" + number))};
  if (inputs.size() == operands) {
    tensor.scale = static_cast<float>(problem.number("scale" + number)) / 1024;
  } else {  // the f32 side of a conversion has no scales
    tensor.scale = problem.function == "quantize" ? inputs.at(operands) : inputs.at(operands + i);
  }
  return tensor;
}

TensorView bias_of(const Views& inputs) { return inputs.size() > 2 ? inputs[2] : TensorView(); }

Activation activation_of(const Problem& problem) {
  return problem.number("silu") != 0 ? Activation::silu : Activation::none;
}

Window window_of(const Problem& problem) {
  Window window;
  window.taps = problem.number("taps");
  window.stride = problem.number("stride");
  window.dilation = problem.number("dilation");
  window.order = problem.word("order") == "tap" ? ColumnOrder::tap_outer : ColumnOrder::channel_outer;
  return window;
}

PadSpec pad_of(const Problem& problem) {
  PadSpec pad;
  pad.left = problem.number("left");
  pad.right = problem.number("right");
  const std::string& mode = problem.word("mode");
  for (int i = 0; i <= static_cast<int>(PadMode::reflect_zero_extended); ++i) {
    pad.mode = static_cast<PadMode>(i);
    if (mode == name_of(pad.mode)) return pad;
  }
  throw Error(ErrorCode::invalid_argument, "there is no padding '" + mode + "'");
}

void run(const Stream& stream, const Problem& problem, const Views& inputs, const TensorView& out) {
  switch (problem.family) {
    case Family::binary:
    case Family::unary:
      return elementwise(stream, operation_of(problem.function), elementwise_operands(inputs), out);
    case Family::depthwise:
      return depthwise_plan(stream, problem, inputs, out).run(stream);
    case Family::img2col:
      return img2col(stream, inputs.at(0), window_of(problem), pad_of(problem), out);
    case Family::pad:
      return pad(stream, inputs.at(0), pad_of(problem), out);
    case Family::quantized:
      return quantized_plan(stream, problem, inputs, out).run(stream);
    default:
      return cast(stream, inputs.at(0), out);
  }
}

Ready prepare(const Stream& stream, const Problem& problem, Memory& memory) {
  Ready ready;
  OnMemory call;
  const std::size_t sets = memory.sets_of(problem);
  for (std::size_t set = 0; set < sets; ++set) {
    Views inputs;
    for (const Tensor& input : problem.inputs)
      inputs.push_back(input.view(memory.next_input(input.type, input.footprint())));
    const TensorView out = problem.out.view(memory.next_output(problem.out.footprint()));
    ready.sets.push_back({inputs, out});
    if (set == 0) call = planned(stream, problem, ready);
    ready.calls.push_back([call, inputs, out] { call(inputs, out); });
  }
  return ready;
}

}  // namespace relayout::bench::random
