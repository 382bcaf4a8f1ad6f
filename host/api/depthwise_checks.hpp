// The checks of the depthwise operations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"
#include "relayout/depthwise.hpp"
#include "relayout/error.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// The views of one call, by name. `operation` is the name of the public function.
class DepthwiseCheck {
 public:
  explicit DepthwiseCheck(const char* operation) : operation_(operation) {}

  /// What the forward functions have in common; returns the number of taps.
  std::int64_t common(const TensorView& in, const TensorView& weights, const TensorView& bias,
                      Activation activation, const TensorView& out) const;
  /// What the backward pass reads; returns the number of taps.
  std::int64_t backward_operands(const TensorView& in, const TensorView& weights, const TensorView& bias,
                                 Activation activation) const;
  /// A tensor of the input's type.
  void signal(const char* name, const TensorView& view, const TensorView& in, const Dims& wanted) const;
  /// Sequence ids have the shape [batch, time] of the input; `states` must not be given, since they belong to
  /// one sequence.
  void sequence_ids(const TensorView& ids, const TensorView& in,
                    const std::vector<std::pair<const char*, const TensorView*>>& states) const;
  /// f16, bf16 or f32.
  void floating_type(const char* name, const TensorView& view) const;
  /// The same of such a shape.
  void number(const char* name, const TensorView& view, const Dims& wanted) const;
  void same_type(const char* name, const TensorView& view, const TensorView& in) const;
  void shape(const char* name, const TensorView& view, const Dims& wanted) const;
  void null_output(NullOutput null_output) const;
  /// Outputs share no byte with any other view.
  void memory(const std::vector<const TensorView*>& inputs, const std::vector<const TensorView*>& outputs,
              Pointers pointers = Pointers::given) const;
  [[noreturn]] void fail(ErrorCode code, const std::string& words) const;

 private:
  std::int64_t taps_of(const TensorView& in, const TensorView& weights, Activation activation) const;
  void number_type(const char* name, const TensorView& view, const TensorView& in) const;

  const char* operation_;
};

}  // namespace relayout
