#include "relayout/operation.hpp"

#include "host/api/operation_rules.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

// In the order of the enumeration.
constexpr OperationRule kRules[] = {
    {"add", 2, Kind::arithmetic},
    {"sub", 2, Kind::arithmetic},
    {"mul", 2, Kind::arithmetic},
    {"div", 2, Kind::arithmetic},
    {"truediv", 2, Kind::floating},
    {"div_trunc", 2, Kind::arithmetic},
    {"div_floor", 2, Kind::arithmetic},
    {"mod", 2, Kind::arithmetic},
    {"fmod", 2, Kind::arithmetic},
    {"pow", 2, Kind::arithmetic},
    {"maximum", 2, Kind::arithmetic},
    {"minimum", 2, Kind::arithmetic},
    {"fmax", 2, Kind::arithmetic},
    {"fmin", 2, Kind::arithmetic},
    {"prelu", 2, Kind::arithmetic},
    {"abs_diff", 2, Kind::arithmetic},
    {"squared_diff", 2, Kind::arithmetic},
    {"hypot", 2, Kind::floating},
    {"atan2", 2, Kind::floating},
    {"copysign", 2, Kind::floating},
    {"bit_and", 2, Kind::bits},
    {"bit_or", 2, Kind::bits},
    {"bit_xor", 2, Kind::bits},
    {"shift_left", 2, Kind::shift},
    {"shift_right", 2, Kind::shift},
    {"equal", 2, Kind::relational},
    {"not_equal", 2, Kind::relational},
    {"less", 2, Kind::relational},
    {"less_equal", 2, Kind::relational},
    {"greater", 2, Kind::relational},
    {"greater_equal", 2, Kind::relational},
    {"isclose", 2, Kind::predicate},
    {"logical_and", 2, Kind::logical},
    {"logical_or", 2, Kind::logical},
    {"logical_xor", 2, Kind::logical},
    {"where", 3, Kind::select},
    {"clip", 3, Kind::arithmetic},
    {"lerp", 3, Kind::floating},
    {"neg", 1, Kind::arithmetic},
    {"abs", 1, Kind::arithmetic},
    {"sign", 1, Kind::arithmetic},
    {"relu", 1, Kind::arithmetic},
    {"square", 1, Kind::arithmetic},
    {"step", 1, Kind::arithmetic},
    {"floor", 1, Kind::arithmetic},
    {"ceil", 1, Kind::arithmetic},
    {"trunc", 1, Kind::arithmetic},
    {"round", 1, Kind::arithmetic},
    {"bit_not", 1, Kind::bits},
    {"logical_not", 1, Kind::logical},
    {"isnan", 1, Kind::predicate},
    {"isinf", 1, Kind::predicate},
    {"isfinite", 1, Kind::predicate},
    {"sqrt", 1, Kind::floating},
    {"rsqrt", 1, Kind::floating},
    {"reciprocal", 1, Kind::floating},
    {"exp", 1, Kind::floating},
    {"exp2", 1, Kind::floating},
    {"expm1", 1, Kind::floating},
    {"log", 1, Kind::floating},
    {"log2", 1, Kind::floating},
    {"log1p", 1, Kind::floating},
    {"sin", 1, Kind::floating},
    {"cos", 1, Kind::floating},
    {"tan", 1, Kind::floating},
    {"sinh", 1, Kind::floating},
    {"cosh", 1, Kind::floating},
    {"tanh", 1, Kind::floating},
    {"asin", 1, Kind::floating},
    {"acos", 1, Kind::floating},
    {"atan", 1, Kind::floating},
    {"erf", 1, Kind::floating},
    {"sigmoid", 1, Kind::floating},
    {"silu", 1, Kind::floating},
    {"gelu", 1, Kind::floating},
    {"gelu_tanh", 1, Kind::floating},
    {"softplus", 1, Kind::floating},
    {"elu", 1, Kind::floating},
    {"hardswish", 1, Kind::floating},
    {"hardsigmoid", 1, Kind::floating},
};
static_assert(sizeof kRules / sizeof kRules[0] == kOperations, "a rule for every operation");

}  // namespace

const OperationRule& rule_of(Operation operation) noexcept { return kRules[static_cast<int>(operation)]; }
const char* name_of(Operation operation) noexcept { return rule_of(operation).name; }
int operands_of(Operation operation) noexcept { return rule_of(operation).operands; }

}  // namespace relayout
