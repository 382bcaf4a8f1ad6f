#include "host/api/depthwise_checks.hpp"

#include "host/api/checks.hpp"
#include "host/plan/sharing.hpp"

namespace relayout {

void DepthwiseCheck::floating_type(const char* name, const TensorView& view) const {
  if (view.dtype() == DType::f16 || view.dtype() == DType::bf16 || view.dtype() == DType::f32) return;
  fail(ErrorCode::dtype,
       std::string(name) + " of type " + name_of(view.dtype()) + " must be f16, bf16 or f32");
}

void DepthwiseCheck::same_type(const char* name, const TensorView& view, const TensorView& in) const {
  if (view.dtype() == in.dtype()) return;
  fail(ErrorCode::dtype, std::string(name) + " of type " + name_of(view.dtype()) +
                             " must have the input's, " + name_of(in.dtype()));
}

void DepthwiseCheck::number_type(const char* name, const TensorView& view, const TensorView& in) const {
  if (view.dtype() == DType::f32 || view.dtype() == in.dtype()) return;
  fail(ErrorCode::dtype, std::string(name) + " of type " + name_of(view.dtype()) +
                             " must have type f32 or the input's, " + name_of(in.dtype()));
}

void DepthwiseCheck::shape(const char* name, const TensorView& view, const Dims& wanted) const {
  check_rank(operation_, name, view, static_cast<int>(wanted.size()));
  if (view.shape() == wanted) return;
  fail(ErrorCode::shape,
       std::string(name) + " has shape " + to_string(view.shape()) + " and must have " + to_string(wanted));
}

void DepthwiseCheck::memory(const std::vector<const TensorView*>& inputs,
                            const std::vector<const TensorView*>& outputs, Pointers pointers) const {
  const auto counts = [pointers](const TensorView& view) {
    return is_given(view) && (pointers == Pointers::given || view.data() != nullptr);
  };
  for (const TensorView* in : inputs) check_reach(operation_, "the input", *in);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_given(*outputs[i])) continue;
    if (!counts(*outputs[i])) {
      check_distinct(operation_, *outputs[i]);
      continue;
    }
    check_output(operation_, *outputs[i]);
    for (const TensorView* in : inputs) {
      if (counts(*in)) check_memory(operation_, *in, *outputs[i]);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (counts(*outputs[j]) && plan::sharing_of(*outputs[i], *outputs[j]) != plan::Sharing::none) {
        fail(ErrorCode::partial_overlap,
             "the outputs " + outputs[j]->to_string() + " and " + outputs[i]->to_string() + " share bytes");
      }
    }
  }
}

void DepthwiseCheck::fail(ErrorCode code, const std::string& words) const {
  relayout::fail(operation_, code, words);
}

void DepthwiseCheck::signal(const char* name, const TensorView& view, const TensorView& in,
                            const Dims& wanted) const {
  same_type(name, view, in);
  shape(name, view, wanted);
}

void DepthwiseCheck::number(const char* name, const TensorView& view, const Dims& wanted) const {
  floating_type(name, view);
  shape(name, view, wanted);
}

void DepthwiseCheck::sequence_ids(
    const TensorView& ids, const TensorView& in,
    const std::vector<std::pair<const char*, const TensorView*>>& states) const {
  for (const auto& [name, state] : states) {
    if (!is_given(*state)) continue;
    fail(ErrorCode::invalid_argument,
         std::string(name) + " cannot be given together with sequence ids: a state belongs to one sequence");
  }
  if (ids.dtype() != DType::i32) {
    fail(ErrorCode::dtype, std::string("the sequence ids are ") + name_of(ids.dtype()) + " and must be i32");
  }
  shape("the sequence ids", ids, {in.extent(0), in.extent(2)});
}

void DepthwiseCheck::null_output(NullOutput null_output) const {
  check_enumerator(operation_, "null_output", null_output, NullOutput::untouched);
}

std::int64_t DepthwiseCheck::taps_of(const TensorView& in, const TensorView& weights,
                                     Activation activation) const {
  check_enumerator(operation_, "the activation", activation, Activation::silu);
  check_rank(operation_, "the input", in, 3);
  check_rank(operation_, "the weights", weights, 2);
  floating_type("the input", in);
  const std::int64_t taps = weights.extent(1);
  if (taps < 1) fail(ErrorCode::invalid_argument, "the weights " + weights.to_string() + " have no taps");
  shape("the weights", weights, {in.extent(1), taps});
  return taps;
}

std::int64_t DepthwiseCheck::backward_operands(const TensorView& in, const TensorView& weights,
                                               const TensorView& bias, Activation activation) const {
  const std::int64_t taps = taps_of(in, weights, activation);
  floating_type("the weights", weights);
  if (is_given(bias)) number("the bias", bias, {in.extent(1)});
  return taps;
}

std::int64_t DepthwiseCheck::common(const TensorView& in, const TensorView& weights, const TensorView& bias,
                                    Activation activation, const TensorView& out) const {
  const std::int64_t taps = taps_of(in, weights, activation);
  signal("the output", out, in, in.shape());
  number_type("the weights", weights, in);
  if (is_given(bias)) {
    number_type("the bias", bias, in);
    shape("the bias", bias, {in.extent(1)});
  }
  return taps;
}

}  // namespace relayout
