// What the element-wise kernels are told: out = cast(last(.. first(a, b ..) ..)) over a normalised loop nest.
// Plain data, filled by host/api/elementwise_plan.cpp. Strides count elements of the operand's own type.
#pragma once

#include <cstdint>

#include "core/divisor.hpp"
#include "core/number_format.hpp"

#include <relayout/dtype.hpp>
#include <relayout/operation.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Inputs in memory, operands with constants, operations of a chain.
constexpr int kMaxTensors = 3, kMaxArguments = 8, kMaxSteps = 4;

/// The types that are computed in: every element type is held by one of them without loss. Integers of up to
/// 32 bits lie in 32, extended by their sign if they have one; f16 and bf16 in f32.
enum class ComputeClass : std::int32_t { i32, i64, f32, f64 };

/// How an element is read.
enum class Reading : std::int32_t {
  value,          // its number, which the computing type holds, or which is rounded once to it
  round_to_half,  // the same, rounded to the common type f16 or bf16
  as_bool         // x != 0, as 1 or 0
};

/// How an operand lies beside the output's vectors.
enum class Access : std::int32_t {
  constant,   // no tensor
  repeated,   // one element for a row
  aligned,    // whole vectors are, too, in one piece and on a multiple of their size
  unaligned,  // in one piece
  strided,
  periodic_row  // strided, in pieces of a row, one of which follows the other
};

struct TensorOperand {
  const void* data = nullptr;
  DType type = DType::f32;
  Reading reading = Reading::value;
  std::int32_t bytes = 4;  // of an element
  Access access = Access::strided;
  std::int64_t strides[kMaxRank] = {};  // along the nest's axes; 0: repeated
};

/// What an operation takes: a tensor, or a constant (tensor < 0) in the class computed in. An f32 constant
/// lies in the low half of the bits.
struct Argument {
  std::int32_t tensor = -1;
  std::uint64_t bits = 0;
};

/// Step by step: the first takes as many arguments as it has operands; each that follows takes what the one
/// before gave and arguments for its other operands, the next ones in their order. Every result but the last
/// is rounded to the common type.
struct Step {
  Operation operation = Operation::add;
  std::int32_t operands = 0;
};

/// How many instructions an operation takes (relayout/operations.def).
enum class OperationCost : std::uint8_t { cheap, rounded, divided, activation, costly };

constexpr OperationCost cost_of(Operation operation) {
  switch (operation) {
#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) \
  case Operation::name:                                         \
    return OperationCost::cost;
#include <relayout/operations.def>
  }
  return OperationCost::cheap;
}

/// Operations of many instructions, of which kernels have instances of their own. To a rounding other than to
/// nearest some others are, too. `real`: on floating types.
constexpr bool is_costly(Operation operation, Rounding rounding, bool real) {
  switch (cost_of(operation)) {
    case OperationCost::cheap:
      return false;
    case OperationCost::rounded:
      return real && rounding != Rounding::nearest_even;
    case OperationCost::divided:
      return !real;
    case OperationCost::activation:
    case OperationCost::costly:
      return true;
  }
  return true;
}

/// The costly operations that kernels for activations have.
constexpr bool is_activation(Operation operation) { return cost_of(operation) == OperationCost::activation; }

/// Which operations have an approximation of their own, on f32.
constexpr bool is_approximated(Operation operation, Precision precision) {
  if (operation == Operation::truediv) return precision != Precision::accurate;
  return precision == Precision::approximate &&
         (operation == Operation::sqrt || operation == Operation::tanh || operation == Operation::exp);
}

struct ElementwiseParams {
  ComputeClass compute = ComputeClass::f32;
  DType common = DType::f32;  // the type that operands are cast to and operations work on
  DType result = DType::f32;  // of the last operation
  std::int32_t steps = 0, tensors = 0;
  Step step[kMaxSteps];
  Argument argument[kMaxArguments];
  TensorOperand tensor[kMaxTensors];

  void* out = nullptr;
  DType out_type = DType::f32;
  std::int32_t out_bytes = 4, result_bytes = 4, common_bytes = 4;  // of an element
  bool convert = false;  // by `cast` from the result's type; else the class computed in is stored as out_type
  ElementCast cast;

  std::int32_t rank = 0;  // 1 or more
  std::int64_t elements = 0;
  std::int64_t extents[kMaxRank] = {};  // the last axis is the output's fastest
  std::int64_t out_strides[kMaxRank] = {};

  Rounding rounding = Rounding::nearest_even;  // of add, sub, mul, truediv and sqrt
  ElementCast rounding_cast;                   // f64 to the common type by it, where that is no f64
  Precision precision = Precision::accurate;   // else every step is cheap or approximated
  bool flush_to_zero = false;
  bool equal_nan = false;  // isclose
  double rtol = 0, atol = 0;

  /// Of the kernels, host/plan/elementwise/elementwise_rows.hpp: the vectors that the output is written in,
  /// aligned ones of `width` elements, of which a row meets row_vectors.
  std::int32_t width = 1;
  bool aligned = false;      // all operands are repeated or aligned
  bool typed_chain = false;  // the kernels for chains on one type take it, in vectors of 16 bytes
  std::int64_t row_vectors = 0, vectors = 0;
  std::int32_t block_rows = 0;  // that a block's vectors may lie in, set at the launch
  bool rows_alike = false;      // every row begins `lead` elements behind a vector's boundary
  std::int32_t misaligned_elements = 0;
  bool fits_32_bits = false;  // vectors and offsets fit 31 bits: `divisors` are used
  Divisor row_divisor, divisors[kMaxRank];
  /// The tensor that is fastest along another axis than the output, on which its vectors are aligned while
  /// the others' are along the output's rows; -1: there is none.
  std::int32_t transposed_tensor = -1, transposed_axis = 0;
  bool streaming = false;  // the output is too large for the caches to be of use to a reader: past them
  /// Of Access::periodic_row: the elements of a piece, and from one piece to the next.
  Divisor piece;
  std::int64_t piece_strides[kMaxTensors] = {};
};

constexpr bool has_periodic_row(const ElementwiseParams& p) {
  for (std::int32_t t = 0; t < p.tensors; ++t) {
    if (p.tensor[t].access == Access::periodic_row) return true;
  }
  return false;
}

/// Whether a step takes many instructions, and is none of `but_for`.
template <class But>
constexpr bool has_costly(const ElementwiseParams& p, But&& but_for) {
  const bool real = p.compute == ComputeClass::f32 || p.compute == ComputeClass::f64;
  for (std::int32_t s = 0; s < p.steps; ++s) {
    const Operation operation = p.step[s].operation;
    if (is_costly(operation, p.rounding, real) && !is_approximated(operation, p.precision) &&
        !but_for(operation))
      return true;
  }
  return false;
}
constexpr bool has_costly(const ElementwiseParams& p) {
  return has_costly(p, [](Operation) { return false; });
}

static_assert(sizeof(ElementwiseParams) < 4000, "room for a kernel's parameters");

}  // namespace relayout
