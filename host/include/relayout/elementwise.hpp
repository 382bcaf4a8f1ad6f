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

/// A tensor of any strides, 0 and negative ones too, or a constant.
class Operand {
 public:
  Operand(const TensorView& tensor) : tensor_(tensor) {}
  Operand(const Literal& literal) : literal_(literal) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T value) : literal_(Literal(value)) {}

  bool is_literal() const noexcept { return literal_.has_value(); }
  const Literal& literal() const { return literal_.value(); }
  const TensorView& tensor() const noexcept { return tensor_; }

 private:
  TensorView tensor_;
  std::optional<Literal> literal_;
};

/// How the operands' shapes become the output's.
enum class Broadcasting : std::uint8_t {
  numpy,  // right-aligned; extents of 1 and missing axes are repeated, in any operand
  repeat  // ggml: every operand but the first is repeated as a whole; its extents divide the output's
};

struct ElementwiseOptions {
  /// The output may have any type that can be cast to: the result is converted once, as `cast` says. Without
  /// it the output has the result's type.
  bool cast_out = false;
  CastOptions cast = {};
  Broadcasting broadcasting = Broadcasting::numpy;
  /// Of add, sub, mul, truediv and sqrt on floating types: nearest_even, toward_zero, down or up.
  Rounding rounding = Rounding::nearest_even;
  /// Of f32, where one operation at least is truediv, tanh or exp, for `approximate` sqrt too; the others of
  /// a chain are as ever. Together with a rounding to nearest only.
  Precision precision = Precision::accurate;
  /// Of f32 in add, sub, mul, truediv, maximum, minimum, sqrt, rsqrt and exp2: subnormal operands and results
  /// count as zeros of their sign.
  bool flush_to_zero = false;
  /// isclose: |a - b| <= atol + rtol * |b|; whether a NaN is close to a NaN.
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};

/// An operation, or a chain, that was checked and planned: immutable, cheap to copy, safe to use from several
/// threads at once.
class ElementwisePlan {
 public:
  struct State;
  explicit ElementwisePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Queues the operation between the planned views: allocates nothing on the device, waits for nothing, can
  /// be recorded in a Graph. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same between other memory: inputs[i] takes the place of the data() of the i-th tensor among the
  /// operands, out of the output's. Further errors: invalid_argument for their number and for addresses that
  /// are no multiple of the element size; partial_overlap.
  void run(const Stream& stream, const std::vector<const void*>& inputs, void* out) const;

  /// The types that are computed in and given.
  DType common_type() const noexcept;
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
/// in different rounds along one axis; output_overlap, partial_overlap; null_pointer and invalid_argument (no
/// multiple of the element size) of views with elements.
void elementwise(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
                 const TensorView& out, const ElementwiseOptions& options = {});
ElementwisePlan plan_elementwise(const PlanTarget& target, Operation operation,
                                 const std::vector<Operand>& operands, const TensorView& out,
                                 const ElementwiseOptions& options = {});

/// out = last(.. second(first(operands[0], ..), ..) ..): the first of up to 4 operations takes as many
/// operands as it has; each that follows takes what the one before gave, and further operands. At most 3
/// operands are tensors, at most 8 there are. All operands have one common type, in which every operation
/// works, and to which every result is rounded: bit for bit what one operation after the other would give.
/// chain(stream, {Operation::add, Operation::relu}, {x, bias}, out). Further errors: invalid_argument for a
/// chain that is too long, and for operations that give or take bool elsewhere than at the end or start.
void chain(const Stream& stream, const std::vector<Operation>& operations,
           const std::vector<Operand>& operands, const TensorView& out,
           const ElementwiseOptions& options = {});
ElementwisePlan plan_chain(const PlanTarget& target, const std::vector<Operation>& operations,
                           const std::vector<Operand>& operands, const TensorView& out,
                           const ElementwiseOptions& options = {});

}  // namespace relayout
