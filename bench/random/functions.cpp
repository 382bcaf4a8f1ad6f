#include "bench/random/functions.hpp"

namespace relayout::bench::random {
namespace {

using D = DType;
using Takes = Function::Takes;

const std::vector<DType> kFloats{D::f16, D::bf16, D::f32, D::f64};
const std::vector<DType> kIntegers{D::u8, D::u16, D::u32, D::u64, D::i8, D::i16, D::i32, D::i64};
const std::vector<DType> kBits{D::bool_, D::u8, D::u16, D::u32, D::u64, D::i8, D::i16, D::i32, D::i64};
const std::vector<DType> kNumbers{D::f16, D::bf16, D::f32, D::f64, D::u8,  D::u16,
                                  D::u32, D::u64,  D::i8,  D::i16, D::i32, D::i64};
const std::vector<DType> kAny{D::f16, D::bf16, D::f32, D::f64, D::bool_, D::u8, D::u16,
                              D::u32, D::u64,  D::i8,  D::i16, D::i32,   D::i64};

const std::vector<Function> kBinary{{"add", Takes::numbers},
                                    {"sub", Takes::numbers},
                                    {"mul", Takes::numbers},
                                    {"div", Takes::numbers},
                                    {"truediv", Takes::numbers_as_floats},
                                    {"div_trunc", Takes::numbers},
                                    {"div_floor", Takes::numbers},
                                    {"mod", Takes::numbers},
                                    {"fmod", Takes::numbers},
                                    {"pow", Takes::numbers},
                                    {"maximum", Takes::numbers},
                                    {"minimum", Takes::numbers},
                                    {"fmax", Takes::numbers},
                                    {"fmin", Takes::numbers},
                                    {"prelu", Takes::numbers},
                                    {"abs_diff", Takes::numbers},
                                    {"squared_diff", Takes::numbers},
                                    {"hypot", Takes::numbers_as_floats},
                                    {"atan2", Takes::numbers_as_floats},
                                    {"copysign", Takes::numbers_as_floats},
                                    {"bit_and", Takes::bits},
                                    {"bit_or", Takes::bits},
                                    {"bit_xor", Takes::bits},
                                    {"shift_left", Takes::shifts},
                                    {"shift_right", Takes::shifts},
                                    {"equal", Takes::anything, true},
                                    {"not_equal", Takes::anything, true},
                                    {"less", Takes::anything, true},
                                    {"less_equal", Takes::anything, true},
                                    {"greater", Takes::anything, true},
                                    {"greater_equal", Takes::anything, true},
                                    {"isclose", Takes::anything, true},
                                    {"logical_and", Takes::anything, true},
                                    {"logical_or", Takes::anything, true},
                                    {"logical_xor", Takes::anything, true}};

const std::vector<Function> kUnary{{"neg", Takes::numbers},
                                   {"abs", Takes::numbers},
                                   {"sign", Takes::numbers},
                                   {"relu", Takes::numbers},
                                   {"square", Takes::numbers},
                                   {"step", Takes::numbers},
                                   {"floor", Takes::numbers},
                                   {"ceil", Takes::numbers},
                                   {"trunc", Takes::numbers},
                                   {"round", Takes::numbers},
                                   {"bit_not", Takes::bits},
                                   {"logical_not", Takes::anything, true},
                                   {"isnan", Takes::anything, true},
                                   {"isinf", Takes::anything, true},
                                   {"isfinite", Takes::anything, true},
                                   {"sqrt", Takes::numbers_as_floats},
                                   {"rsqrt", Takes::numbers_as_floats},
                                   {"reciprocal", Takes::numbers_as_floats},
                                   {"exp", Takes::numbers_as_floats},
                                   {"exp2", Takes::numbers_as_floats},
                                   {"expm1", Takes::numbers_as_floats},
                                   {"log", Takes::numbers_as_floats},
                                   {"log2", Takes::numbers_as_floats},
                                   {"log1p", Takes::numbers_as_floats},
                                   {"sin", Takes::numbers_as_floats},
                                   {"cos", Takes::numbers_as_floats},
                                   {"tan", Takes::numbers_as_floats},
                                   {"sinh", Takes::numbers_as_floats},
                                   {"cosh", Takes::numbers_as_floats},
                                   {"tanh", Takes::numbers_as_floats},
                                   {"asin", Takes::numbers_as_floats},
                                   {"acos", Takes::numbers_as_floats},
                                   {"atan", Takes::numbers_as_floats},
                                   {"erf", Takes::numbers_as_floats},
                                   {"sigmoid", Takes::numbers_as_floats},
                                   {"silu", Takes::numbers_as_floats},
                                   {"gelu", Takes::numbers_as_floats},
                                   {"gelu_tanh", Takes::numbers_as_floats},
                                   {"softplus", Takes::numbers_as_floats},
                                   {"elu", Takes::numbers_as_floats},
                                   {"hardswish", Takes::numbers_as_floats},
                                   {"hardsigmoid", Takes::numbers_as_floats}};

}  // namespace

const std::vector<DType>& Function::types() const {
  switch (takes) {
    case Takes::numbers:
      return kNumbers;
    case Takes::bits:
      return kBits;
    case Takes::shifts:
      return kIntegers;
    default:
      return kAny;
  }
}

DType Function::result(DType type) const {
  if (gives_bool) return DType::bool_;
  return takes == Takes::numbers_as_floats && !is_floating(type) ? DType::f32 : type;
}

const std::vector<Function>& functions_of(Family family) {
  return family == Family::binary ? kBinary : kUnary;
}

const std::vector<std::string>& quantized_functions() {
  static const std::vector<std::string> names{"add",  "sub",       "mul",      "maximum",
                                              "relu", "hardswish", "quantize", "dequantize"};
  return names;
}

Operation operation_of(const std::string& name) {
  for (int operation = 0; operation < kOperations; ++operation) {
    if (name == name_of(static_cast<Operation>(operation))) return static_cast<Operation>(operation);
  }
  throw Error(ErrorCode::invalid_argument, "there is no operation '" + name + "'");
}

const std::vector<DType>& castable_types() {
  static const std::vector<DType> types{D::bool_, D::u8,   D::u16,    D::u32, D::u64,  D::i8,
                                        D::i16,   D::i32,  D::i64,    D::f16, D::bf16, D::f32,
                                        D::f64,   D::tf32, D::e4m3fn, D::e5m2};
  return types;
}

const std::vector<DType>& floating_types() { return kFloats; }
const std::vector<DType>& number_types() { return kAny; }

}  // namespace relayout::bench::random
