// The checks of the depthwise operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"
#include "relayout/error.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// The views of one call, by name. `operation` is the name of the public function.
class DepthwiseCheck {
 public:
  explicit DepthwiseCheck(const char* operation) : operation_(operation) {}

  /// What both functions have in common; returns the number of taps.
  std::int64_t common(const TensorView& in, const TensorView& weights, const TensorView& bias,
                      const TensorView& out) const;
  void signal_type(const TensorView& in) const;
  void same_type(const char* name, const TensorView& view, const TensorView& in) const;
  void shape(const char* name, const TensorView& view, const Dims& wanted) const;
  /// Outputs share no byte with any other view.
  void memory(const std::vector<const TensorView*>& inputs, const std::vector<const TensorView*>& outputs,
              Pointers pointers = Pointers::given) const;
  [[noreturn]] void fail(ErrorCode code, const std::string& words) const;

 private:
  void number_type(const char* name, const TensorView& view, const TensorView& in) const;

  const char* operation_;
};

}  // namespace relayout
