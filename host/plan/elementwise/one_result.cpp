#include "host/plan/elementwise/one_result.hpp"

#include <algorithm>

#include "host/plan/loop_nest.hpp"

namespace relayout::plan {
namespace {

/// Whether every element has the same result, which no operand is needed for: integers are finite.
bool has_one_result(const ElementwiseParams& p) {
  const Operation operation = p.step[0].operation;
  const int tensor = p.argument[0].tensor;
  return p.steps == 1 && p.tensors == 1 && tensor == 0 && !p.convert && p.out_type == DType::bool_ &&
         p.tensor[0].reading == Reading::value &&
         (is_integral(p.tensor[0].type) || p.tensor[0].type == DType::bool_) &&
         (operation == Operation::isnan || operation == Operation::isinf || operation == Operation::isfinite);
}

/// Makes the operation one on two constants of bool, over a nest whose axes only the output has to follow.
void make_constant(ElementwiseParams& p) {
  p.argument[0] = p.argument[1] = Argument{};
  p.argument[0].low = p.argument[1].low = p.step[0].operation == Operation::isfinite ? 1 : 0;
  p.step[0] = ProgramStep{Operation::bit_and, 0, 2};
  p.arguments = 2;
  p.tensors = 0;
  p.compute = ComputeClass::i32;
  p.common = DType::bool_;
  p.common_bytes = 1;
  Dims extents(p.extents, p.extents + p.rank), strides(p.out_strides, p.out_strides + p.rank);
  merge_axes(extents, &strides, 1);
  if (extents.empty()) extents = strides = {1};
  p.rank = static_cast<std::int32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), p.extents);
  std::copy(strides.begin(), strides.end(), p.out_strides);
}

}  // namespace

void leave_out_unneeded(ElementwiseParams& p) {
  if (has_one_result(p)) make_constant(p);
}

}  // namespace relayout::plan
