// What the element-wise kernels are told: out = store(last(.. first(a, b ..) ..)) over a normalised loop
// nest, of tensors, codes and constants. Plain data, filled by host/plan/elementwise. Strides count elements
// of the operand's own type.
#pragma once

#include <cstdint>

#include "core/divisor.hpp"
#include "core/number_format.hpp"
#include "core/operation_kind.hpp"

#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Tensors that are read, scales and zero points of codes among them; operations; and the operands of as many
/// operations of three.
constexpr int kMaxTensors = 8, kMaxSteps = 8, kMaxArguments = 2 * kMaxSteps + 1;
/// The most for kernels that have all tensors' vectors in registers at once.
constexpr int kMaxTypedTensors = 3;

/// The types that are computed in: every element type is held by one of them without loss. Integers of up to
/// 32 bits lie in 32, extended by their sign if they have one; f16 and bf16 in f32.
enum class ComputeClass : std::int8_t { i32, i64, f32, f64 };

/// How an element is read.
enum class Reading : std::int8_t {
  value,          // its number, which the computing type holds, or which is rounded once to it
  round_to_half,  // the same, rounded to the common type f16 or bf16
  as_bool,        // x != 0, as 1 or 0
  codes           // the number that a code stands for, in f32 (CodeNumbers)
};

/// How an operand lies beside the output's vectors, or beside strips.
enum class Access : std::int8_t {
  constant,   // no tensor
  repeated,   // one element for a row, or for a strip
  aligned,    // whole vectors are, too, in one piece and on a multiple of their size
  halves,     // in one piece, in which halves of vectors of 16 bytes are on multiples of 8 bytes
  quarters,   // the same of their quarters, and 4 bytes
  unaligned,  // in one piece
  strided
};
constexpr bool is_misaligned(Access access) {
  return access >= Access::halves && access <= Access::unaligned;
}

struct TensorOperand {
  const void* data = nullptr;
  DType type = DType::f32;
  Reading reading = Reading::value;
  std::int8_t bytes = 4;  // of an element
  Access access = Access::strided;
  std::int32_t dense = 0;  // for strips: elements, where there are no others between them; else 0
  std::int64_t strides[kMaxRank] = {};  // along the nest's axes; 0: repeated
};

/// Code q stands for (q - zero) * scale. A scale or a zero point is a tensor of its own, or one number for
/// all.
struct CodeNumbers {
  float scale = 1;
  std::int32_t zero = 0;
  std::int8_t scale_tensor = -1, zero_tensor = -1;  // below 0: the number
  bool is_signed = false;                           // i8, else u8
};

/// What an operation takes: a tensor, or a constant (tensor < 0) in the class computed in. An f32 constant
/// lies in the low half of the bits.
struct Argument {
  std::int32_t tensor = -1;
  std::uint32_t low = 0, high = 0;

  constexpr std::uint64_t bits() const { return low | static_cast<std::uint64_t>(high) << 32; }
  constexpr void set_bits(std::uint64_t bits) {
    low = static_cast<std::uint32_t>(bits);
    high = static_cast<std::uint32_t>(bits >> 32);
  }
};

/// Step by step: the first takes as many arguments as it has operands; each that follows takes what the one
/// before gave as operand number `running`, and arguments for its other operands, the next ones in their
/// order. Every result but the last is rounded to the common type. Without a step the one argument is stored.
struct ProgramStep {
  Operation operation = Operation::add;
  std::int8_t running = 0;
  std::int32_t operands = 0;
};

/// Which kernel takes it (host/plan/elementwise/elementwise_kernel.cpp).
enum class ElementwiseKernel : std::int8_t {
  typed,            // one cheap operation on two operands of types that an instance knows, aligned
  typed_costly,     // the same of one costly operation, on operands of the result's type
  typed_unaligned,  // the same of bytes, and of few instructions in 2 bytes, from any address
  typed_unaligned_costly,
  typed_chunks,  // the same element by element in chunks of rows
  typed_chunks_costly,
  typed_flat,  // the same in vectors of an output in one piece, operands beside it or along its rows
  typed_flat_costly,
  typed_strips,  // the same anywhere, each lane a few elements along one axis
  typed_strips_costly,
  transposed,    // the same where one operand lies across the output's rows
  mixed,         // one operation in f32 on up to three aligned tensors of any types, to f32 or bool
  mixed_chunks,  // the same element by element in chunks of rows
  mixed_strips,  // the same anywhere, each lane a few elements along one axis
  chain_cheap,   // up to three aligned tensors of one of f16, bf16 and f32
  chain_activation,
  chain_costly,
  chain_approximate,
  vectors,  // up to three tensors of any types, anywhere
  vectors_costly,
  vectors_approximate,
  program,  // anything
  program_costly,
  program_strips,  // anything whose offsets fit 31 bits, each lane a few elements along one axis
  program_strips_costly,
  code_rows,     // add, sub and mul of codes to codes, scales and zero points constant along aligned rows
  code_vectors,  // one bounded operation on codes, in vectors of 16 of the output's rows, from any address
  code_chunks,   // one cheap operation on codes and numbers, or a conversion, in chunks of rows
  code_strips    // the same anywhere, each lane a few elements along one axis
};
constexpr bool is_in_chunks(ElementwiseKernel kernel) {
  return kernel == ElementwiseKernel::typed_chunks || kernel == ElementwiseKernel::typed_chunks_costly ||
         kernel == ElementwiseKernel::mixed_chunks || kernel == ElementwiseKernel::code_chunks;
}
constexpr bool is_flat(ElementwiseKernel kernel) {
  return kernel == ElementwiseKernel::typed_flat || kernel == ElementwiseKernel::typed_flat_costly;
}
constexpr bool is_in_strips(ElementwiseKernel kernel) {
  return kernel == ElementwiseKernel::typed_strips || kernel == ElementwiseKernel::typed_strips_costly ||
         kernel == ElementwiseKernel::mixed_strips || kernel == ElementwiseKernel::program_strips ||
         kernel == ElementwiseKernel::program_strips_costly || kernel == ElementwiseKernel::code_strips;
}
/// Elements of a vector of the kernel for mixed types, at most.
constexpr int kMixedWidth = 4;
/// Lanes of a block of the kernels for strips and flat outputs, at most, and elements of a lane where a
/// vector has so many.
constexpr int kStripThreads = 256;
constexpr std::int32_t strip_elements(std::int32_t width) { return width > 4 ? width : 2 * width; }
constexpr std::int32_t flat_elements(std::int32_t width) { return width > 8 ? width : 2 * width; }
/// Whether a lane leaves out the part of a costly operation's strip that is not there, so that strips may be
/// half as long. A lane computes its elements in turns, of which these have most; for others the question
/// takes longer than it saves.
constexpr bool may_have_half_strips(bool in_f32, std::int32_t bytes) { return !in_f32 && bytes >= 4; }
/// Vectors of a tile of the transposed kernel, along either axis.
constexpr int kTransposedVectors = 16;
/// Vectors of a lane of code_rows; elements of a strip of codes, where these have one scale and strips are
/// many, and else.
constexpr int kCodeRowVectors = 4, kLongCodeStrip = 16, kCodeStrip = 8;
/// The tensors of code_vectors, code_chunks and code_strips have fixed numbers: the operands come first, then
/// the scales of both and of the output, then their zero points. One that there is not has no data; behind
/// the last one that there is, there are none. In code_strips without zero points all scales have the strides
/// of the first, whether or not there is one.
constexpr int kScaleTensors = 2, kZeroTensors = 5;
/// Half the elements that a lane of code_chunks has; a quarter with own_scales.
constexpr int kCodeChunkWidth = 8;
/// Scales between these are multiplied with each other and with the reciprocal of another beforehand: nothing
/// overflows, nothing is subnormal.
constexpr float kMinFoldedScale = 0x1p-40f, kMaxFoldedScale = 0x1p40f;

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

/// How the lanes of the kernel for strips share the nest. A lane makes a strip: a few elements at the strides
/// of the nest's axis 0. The axes behind it count lanes, axis 1 fastest.
///
/// A lane divides its number by the extents of these axes, one after the other. It takes no remainders: the
/// quotients stand for the indices. So each stride of an axis is less by the stride of the axis before it,
/// times that axis's extent, and so are `scale` and `chunk` of StripAxis.
///
/// The strip lies along an axis of `extent` elements. A lane's first one is number sum(index * scale) - lead,
/// over the axes that count lanes; the others follow `step` apart. Those outside the extent do not exist.
struct Strips {
  std::int32_t count = 1;  // elements of a strip; a kernel's lanes may have room for more
  std::int32_t lead = 0, step = 1, extent = 1;
  /// Lanes share a long axis in chunks, whose elements are number sum(index * chunk). Those from number
  /// chunked_extent on do not exist. Without chunks all of `chunk` are 0.
  std::int32_t chunked_extent = 1;
  bool whole = true;  // every lane has all the elements that it has room for
};

/// Strips may lie along two joined axes of the nest, which follow each other in a tensor across the output,
/// the inner one short: element number n is number n % inner of the inner axis and n / inner of the outer
/// one. So its offset is n strides of the inner axis, the nest's axis 0, and n / inner jumps, which each
/// tensor and the output have in the place of the stride of this axis, which no nest has that is cut into
/// strips. 0: none.
constexpr int kJumpAxis = kMaxRank - 1;
/// The longest inner axis.
constexpr std::int64_t kLongestInner = 31;

/// What splits numbers along an axis of the nest. It lies on a multiple of 16 bytes, so that fewer accesses
/// read it.
struct alignas(16) SplitAxis {
  Divisor extent;
};

/// An axis of strips that counts lanes. Two numbers are a Divisor's. Strips says what the others are, modulo
/// 2^32. They lie together, since a lane waits for each part of the parameters that it reads.
///
/// Axis 0 counts none. It has the divisor of the inner one of two joined axes, this axis's extent as its
/// scale, and as its chunk the bits whose numbers are multiples of that: none where strips lie along one
/// axis.
struct StripAxis {
  std::uint32_t multiplier, shift;
  std::uint32_t scale, chunk;

  constexpr std::uint32_t inner() const { return scale; }
  constexpr std::uint32_t wraps() const { return chunk; }
};

/// A kernel waits for each part of its parameters, of 64 bytes or so, when it first reads in it. So what all
/// kernels read comes first and together, then what one operation on two tensors needs.
struct ElementwiseParams {
  void* out = nullptr;
  /// What kernels need, from host/plan/elementwise: the vectors that the output is written in, aligned ones
  /// of `width` elements, of which a row meets row_vectors. In chunks of rows: chunks, in the place of
  /// vectors.
  std::int64_t vectors = 0, row_vectors = 0;
  /// By row_vectors; of code_rows, by the `lanes` that share a row. `lanes` of strips are all lanes.
  Divisor row_divisor;
  std::uint32_t lanes = 0;
  std::int32_t block_rows = 0;  // that a block's vectors may lie in, set at the launch
  std::int32_t width = 1, misaligned_elements = 0;
  std::int32_t rank = 0;      // 1 or more
  bool rows_alike = false;    // every row begins `misaligned_elements` behind a vector's boundary
  bool fits_32_bits = false;  // vectors and offsets fit 31 bits: `axes` are used
  bool streaming = false;     // the output is too large for the caches to be of use to a reader: past them
  bool aligned = false;       // all operands are repeated or aligned
  ElementwiseKernel kernel = ElementwiseKernel::program;
  ComputeClass compute = ComputeClass::f32;
  DType common = DType::f32;  // the type that operands are cast to and operations work on
  DType result = DType::f32;  // of the last operation
  DType out_type = DType::f32;
  Rounding rounding = Rounding::nearest_even;  // of add, sub, mul, truediv and sqrt
  Precision precision = Precision::accurate;   // else every step is cheap or approximated
  bool flush_to_zero = false;
  bool equal_nan = false;  // isclose
  bool convert = false;  // by `cast` from the result's type; else the class computed in is stored as out_type
  bool out_coded = false;   // or, in f32, as codes
  bool own_scales = false;  // for code_chunks and code_strips: a lane's codes have scales of their own
  /// For code_chunks and code_strips, and always of code_vectors: the program is one operation whose
  /// result is finite. Its operands and its result are codes, which share scales and zero points in a lane.
  bool bounded_codes = false;
  std::int32_t steps = 0, arguments = 0, tensors = 0;
  std::int32_t out_bytes = 4, result_bytes = 4, common_bytes = 4;  // of an element
  /// The tensor that is fastest along another axis than the output, on which its vectors are aligned while
  /// the others' are along the output's rows; -1: there is none.
  std::int32_t transposed_tensor = -1, transposed_axis = 0;
  std::int64_t elements = 0;
  std::int32_t block_threads = kStripThreads;  // of strips, and of chunks of rows but for those of codes

  Argument argument[kMaxArguments];
  ProgramStep step[kMaxSteps];
  TensorOperand tensor[kMaxTensors];
  Strips strips;
  union {
    SplitAxis axes[kMaxRank] = {};
    StripAxis strip_axes[kMaxRank];
  };
  std::int64_t extents[kMaxRank] = {};  // the last axis is the output's fastest
  std::int64_t out_strides[kMaxRank] = {};

  CodeNumbers out_codes;
  CodeNumbers codes[kMaxTensors];  // of tensors with Reading::codes
  ElementCast cast;
  ElementCast rounding_cast;  // f64 to the common type by `rounding`, where that is no f64
  double rtol = 0, atol = 0;  // of isclose
};

constexpr bool has_codes(const ElementwiseParams& p) {
  for (std::int32_t t = 0; t < p.tensors; ++t) {
    if (p.tensor[t].reading == Reading::codes) return true;
  }
  return p.out_coded;
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

static_assert(sizeof(ElementwiseParams) <= 4064, "room for a kernel's parameters");

}  // namespace relayout
