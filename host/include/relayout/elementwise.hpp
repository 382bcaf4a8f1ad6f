// Element-wise operations over tensors of any strides and over 8-bit codes: one operation, or a chain of them
// in one pass over the memory. relayout/arithmetic.hpp has a function for each operation; docs/operations.md
// their tables.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <relayout/cast_options.hpp>
#include <relayout/copy_plan.hpp>
#include <relayout/export.hpp>
#include <relayout/operand.hpp>
#include <relayout/operation.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// An operation of a chain. `running` says which of its operands is what the operation before gave: 0 the
/// first. {Operation::sub, 1} is its operand minus the running value.
struct Step {
  Operation operation;  ///< the operation
  int running;          ///< which operand the running value is

  /// An operation whose operand number `running_operand` is the running value. An Operation converts to it.
  constexpr Step(Operation which, int running_operand = 0) : operation(which), running(running_operand) {}
};

/// Operations one after the other: {Operation::add, {Operation::truediv, 1}}.
class Program {
 public:
  /// The steps in the order in which they run. Programs of all three kinds are checked where they are used.
  Program(std::initializer_list<Step> steps) : steps_(steps) {}
  /// The same, from a vector.
  Program(std::vector<Step> steps) : steps_(std::move(steps)) {}
  /// The same, where every running value is the first operand.
  Program(const std::vector<Operation>& operations) : steps_(operations.begin(), operations.end()) {}

  /// The steps.
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  std::vector<Step> steps_;
};

/// How the operands' shapes become the output's.
enum class Broadcasting : std::uint8_t {
  numpy,  ///< right-aligned; extents of 1 and missing axes are repeated, in any operand
  repeat  ///< ggml: every operand but the first is repeated as a whole; its extents divide the output's
};

/// Options of element-wise operations, each with its default.
struct ElementwiseOptions {
  /// Whether the output may have another type than the result. The result is then converted once, as `cast`
  /// says.
  bool cast_out = false;
  CastOptions cast = {};                            ///< how the result is converted with cast_out
  Broadcasting broadcasting = Broadcasting::numpy;  ///< how shapes are broadcast
  /// How add, sub, mul, truediv and sqrt round on floating types: nearest_even, toward_zero, down or up.
  Rounding rounding = Rounding::nearest_even;
  /// How exactly f32 is computed. At least one operation must be truediv, tanh or exp (for `approximate` sqrt
  /// counts too); it does not change the other operations of a chain. Only together with a rounding to
  /// nearest.
  Precision precision = Precision::accurate;
  /// Whether subnormal operands and results count as zeros of their sign: for f32, in add, sub, mul, truediv,
  /// maximum, minimum, sqrt, rsqrt and exp2.
  bool flush_to_zero = false;
  double rtol = 1e-5;      ///< the relative tolerance of isclose, 0 or more: |a - b| <= atol + rtol * |b|
  double atol = 1e-8;      ///< its absolute tolerance, 0 or more
  bool equal_nan = false;  ///< whether isclose takes a NaN to be close to a NaN
};

/// An operation, or a chain, that was checked and planned: immutable, cheap to copy, safe to use from several
/// threads at once.
class RELAYOUT_API ElementwisePlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have the plan_* functions.
  explicit ElementwisePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  ElementwisePlan(const ElementwisePlan&) = default;
  /// A copy.
  ElementwisePlan& operator=(const ElementwisePlan&) = default;

  /// Queues the operation between the planned views: allocates nothing on the device, waits for nothing, can
  /// be recorded in a Graph. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same between other memory: inputs[i] takes the place of the data() of the i-th tensor among the
  /// operands, codes among them, out of the output's; scales and zero points stay where they were planned.
  /// Further errors: invalid_argument for their number and for addresses that are no multiple of the element
  /// size; partial_overlap.
  void run(const Stream& stream, const std::vector<const void*>& inputs, void* out) const;

  /// The type that the operation works in.
  DType common_type() const noexcept;
  /// The type of the result, before any cast_out.
  DType result_type() const noexcept;
  /// The plan in plain words, several lines: types, loop nest, the kernel and why it is no faster one,
  /// vectors.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

/// out = operation(operands), element by element. Operands are cast to their common type, in which the
/// operation works (relayout/promotion.hpp); `out` has the broadcast shape, strides under which no two
/// elements share an address, and the result's type. out may be the same memory as an operand of the same
/// shape, strides and element size; else it shares no byte with any. Constants are weakly typed.
///
/// Codes are operands of f32, (q - zero) * scale rounded once. Where an operand or the output is codes, the
/// common type is f32: f16, bf16 and integers may stand beside them. To codes goes clamp(nearest_even(result
/// / scale) + zero), the quotient rounded once before; NaN becomes the zero point. On GPUs and emulated
/// devices a single operation of few instructions to codes may give the neighbouring code where result /
/// scale lies within 2^-17 of itself from a tie (docs/quantized.md).
///
/// Errors, in the order of their checks: invalid_argument for the number of operands, where none is a tensor,
/// and for more than 8 tensors, scales and zero points counted; dtype, promotion, literal_range, scale,
/// rounding_mode, invalid_argument for tolerances of isclose; shape, rank, unsupported for operands that
/// repeat in different rounds along one axis; output_overlap, partial_overlap; null_pointer and
/// invalid_argument (no multiple of the element size) of views with elements.
RELAYOUT_API void elementwise(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
                              const Output& out, const ElementwiseOptions& options = {});
/// Checks and plans elementwise() without running it.
RELAYOUT_API ElementwisePlan plan_elementwise(const PlanTarget& target, Operation operation,
                                              const std::vector<Operand>& operands, const Output& out,
                                              const ElementwiseOptions& options = {});

/// out = last(.. second(first(operands[0], ..), ..) ..): the first of up to 8 operations takes as many
/// operands as it has; each that follows takes what the one before gave, as the operand that its Step says,
/// and further operands in their order. At most 8 tensors are read. All operands have one common type, in
/// which every operation works, and to which every result is rounded: bit for bit what one operation after
/// the other would give, except for functions of f16 and bf16 on GPUs (docs/operations.md).
///
///     chain(stream, {Operation::add, Operation::relu}, {x, bias}, out);                  // relu(x + bias)
///     chain(stream, {Operation::add, {Operation::truediv, 1}}, {std, 1e-5, x}, out);     // x / (std + 1e-5)
///     chain(stream, {Operation::greater, Operation::where}, {x, 0, a, b}, out);          // x > 0 ? a : b
///
/// Between codes everything is f32: codes are rounded to once, at the end. Further errors: invalid_argument
/// for a chain that is too long or a Step without such an operand, for operations that give bool before any
/// but the first operand of `where`, and for logical ones.
RELAYOUT_API void chain(const Stream& stream, const Program& program, const std::vector<Operand>& operands,
                        const Output& out, const ElementwiseOptions& options = {});
/// Checks and plans chain() without running it.
RELAYOUT_API ElementwisePlan plan_chain(const PlanTarget& target, const Program& program,
                                        const std::vector<Operand>& operands, const Output& out,
                                        const ElementwiseOptions& options = {});

}  // namespace relayout
