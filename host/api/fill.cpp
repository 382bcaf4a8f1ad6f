#include "relayout/fill.hpp"

#include "core/bytes.hpp"
#include "host/api/cast_rule.hpp"
#include "host/api/checks.hpp"
#include "host/api/elementwise_plan.hpp"

namespace relayout {
namespace {

constexpr const char* kName = "fill";

/// The type that a constant is cast from, which holds it.
DType source_of(const Literal& value) {
  if (value.kind() == Literal::Kind::boolean) return DType::bool_;
  if (value.kind() == Literal::Kind::floating) return DType::f64;
  return value.dtype() == DType::u64 ? DType::u64 : DType::i64;
}

std::uint64_t bits_of(const Literal& value) {
  if (value.kind() == Literal::Kind::floating) return detail::bit_cast<std::uint64_t>(value.floating());
  return value.is_negative() ? 0 - value.magnitude() : value.magnitude();
}

/// Plans a fill as an operation on bits without tensors: bits | bits, in integers of an element's size.
ElementwisePlan::State plan_fill_of(const PlanTarget& target, const Literal& value, const TensorView& out,
                                    const CastOptions& cast) {
  const DType from = source_of(value), to = out.dtype();
  CopyPlanOptions options;
  options.cast = cast;
  check_cast_options(kName, from, to, options);
  check_distinct(kName, out);
  const DType bits = unsigned_of(bytes_of(to));
  const std::uint64_t element = converted_bits(from, to, cast, bits_of(value));

  ElementwisePlan::State state;
  state.name = kName;
  state.types.common = state.types.result = to;
  state.out = out;
  ElementwiseParams& p = state.params;
  p.compute = size_of(to) == 8 ? ComputeClass::i64 : ComputeClass::i32;
  p.common = p.result = p.out_type = bits;
  p.common_bytes = p.result_bytes = p.out_bytes = static_cast<std::int32_t>(size_of(to));
  p.steps = 1;
  p.step[0] = {Operation::bit_or, 0, 2};
  p.arguments = 2;
  for (int i = 0; i < 2; ++i) p.argument[i].set_bits(element);
  set_nest(target, state);
  return state;
}

}  // namespace

void fill(const Stream& stream, const Literal& value, const TensorView& out, const CastOptions& cast) {
  const ElementwisePlan::State state = plan_fill_of(stream.device(), value, out, cast);
  check_elementwise_memory(state, {}, out.data());
  launch_elementwise(stream, state, {}, out.data());
}

ElementwisePlan plan_fill(const PlanTarget& target, const Literal& value, const TensorView& out,
                          const CastOptions& cast) {
  return ElementwisePlan(kept(plan_fill_of(target, value, out, cast)));
}

}  // namespace relayout
