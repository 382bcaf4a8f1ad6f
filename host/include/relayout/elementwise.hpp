// Element-wise operations over tensors of any strides: one operation, or a chain of them in one pass over the
// memory. relayout/arithmetic.hpp has a function for each operation; docs/operations.md their tables.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <relayout/cast_options.hpp>
#include <relayout/copy_plan.hpp>
#include <relayout/operation.hpp>
#include <relayout/promotion.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// An operand of an element-wise operation: a tensor of any strides (0 and negative ones too), or a constant.
class Operand {
 public:
  /// A tensor.
  Operand(const TensorView& tensor) : tensor_(tensor) {}
  /// A constant.
  Operand(const Literal& literal) : literal_(literal) {}
  /// A constant.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T value) : literal_(Literal(value)) {}

  /// Whether it is a constant.
  bool is_literal() const noexcept { return literal_.has_value(); }
  /// The constant; only where is_literal().
  const Literal& literal() const { return literal_.value(); }
  /// The tensor; only where not is_literal().
  const TensorView& tensor() const noexcept { return tensor_; }

 private:
  TensorView tensor_;
  std::optional<Literal> literal_;
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
  double rtol = 1e-5;      ///< the relative tolerance of isclose: |a - b| <= atol + rtol * |b|
  double atol = 1e-8;      ///< its absolute tolerance
  bool equal_nan = false;  ///< whether isclose takes a NaN to be close to a NaN
};

/// An operation, or a chain, that was checked and planned: immutable, cheap to copy, safe to use from several
/// threads at once.
class ElementwisePlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have the plan_* functions.
  explicit ElementwisePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Queues the operation between the planned views: allocates nothing on the device, waits for nothing, can
  /// be recorded in a Graph. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same between other memory. inputs[i] takes the place of the data() of the i-th tensor among the
  /// operands, and `out` that of the output's. Further errors: invalid_argument for their number and for
  /// addresses that are no multiple of the element size; partial_overlap.
  void run(const Stream& stream, const std::vector<const void*>& inputs, void* out) const;

  /// The type that the operation works in.
  DType common_type() const noexcept;
  /// The type of the result, before any cast_out.
  DType result_type() const noexcept;
  /// The plan in plain words, several lines: types, loop nest, vectors, bytes.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

/// out = operation(operands), element by element. Operands are cast to their common type, in which the
/// operation works (relayout/promotion.hpp); `out` has the broadcast shape, strides under which no two
/// elements share an address, and the result's type. out may be the same memory as an operand of the same
/// shape, strides and element size; else it shares no byte with any. Constants are weakly typed.
///
/// Errors, in the order of their checks: invalid_argument for the number of operands, and where none is a
/// tensor; dtype, promotion, literal_range, rounding_mode; shape, rank, unsupported for operands that repeat
/// in different rounds along one axis; output_overlap, partial_overlap; for views with elements, null_pointer
/// and invalid_argument (no multiple of the element size).
void elementwise(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
                 const TensorView& out, const ElementwiseOptions& options = {});
/// Checks and plans elementwise() without running it.
ElementwisePlan plan_elementwise(const PlanTarget& target, Operation operation,
                                 const std::vector<Operand>& operands, const TensorView& out,
                                 const ElementwiseOptions& options = {});

/// out = last(.. second(first(operands[0], ..), ..) ..): the first of up to 4 operations takes as many
/// operands as it has; each that follows takes what the one before gave, and further operands. At most 3
/// operands are tensors, and there are at most 8. All operands have one common type, in which every operation
/// works, and to which every result is rounded: bit for bit what one operation after the other would give.
///
///     chain(stream, {Operation::add, Operation::relu}, {x, bias}, out);  // relu(x + bias)
///
/// Further errors: invalid_argument for a
/// chain that is too long, and for operations that give or take bool elsewhere than at the end or start.
void chain(const Stream& stream, const std::vector<Operation>& operations,
           const std::vector<Operand>& operands, const TensorView& out,
           const ElementwiseOptions& options = {});
/// Checks and plans chain() without running it.
ElementwisePlan plan_chain(const PlanTarget& target, const std::vector<Operation>& operations,
                           const std::vector<Operand>& operands, const TensorView& out,
                           const ElementwiseOptions& options = {});

}  // namespace relayout
