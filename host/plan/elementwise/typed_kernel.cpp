#include "host/plan/elementwise/typed_kernel.hpp"

#include <algorithm>

#include "core/sector.hpp"
#include "host/plan/elementwise/kernel_obstacles.hpp"
#include "host/plan/small_problems.hpp"

namespace relayout::plan {
namespace {

using Kernel = ElementwiseKernel;

/// The types of the two operands; a constant has that of the other.
struct OperandTypes {
  DType a, b;
};
OperandTypes operand_types(const ElementwiseParams& p) {
  const auto type_of = [&](int operand) {
    const int tensor = tensor_of_operand(p, operand);
    return tensor < 0 ? p.common : p.tensor[tensor].type;
  };
  if (p.tensors == 0) return {p.common, p.common};
  const bool has_a = p.argument[0].tensor >= 0, has_b = p.step[0].operands >= 2 && p.argument[1].tensor >= 0;
  return {type_of(has_a ? 0 : 1), type_of(has_b ? 1 : 0)};
}

/// x != 0 of tensors of one type.
bool is_logical_of_one_type(const ElementwiseParams& p) {
  for (int i = 0; i < p.step[0].operands; ++i) {
    const int tensor = p.argument[i].tensor;
    if (tensor < 0 || p.tensor[tensor].reading != Reading::as_bool ||
        p.tensor[tensor].type != p.tensor[0].type)
      return false;
  }
  return p.steps == 1;
}

/// One operation on two operands at most, of types that need no conversion but to the common one.
const char* obstacle_to_operation(const ElementwiseParams& p) {
  const ProgramStep& step = p.step[0];
  if (p.steps != 1) return "there are several operations";
  if (has_costly(p) && p.rounding != Rounding::nearest_even) return "a rounding is asked for";
  if (p.precision != Precision::accurate) return "an approximation is asked for";
  if (step.operation == Operation::where) return "the operation is where";
  if (p.tensors > 2 || (step.operands == 3 && p.argument[2].tensor >= 0))
    return "there are more than two tensors";
  if (const char* obstacle = obstacle_to_cutting(p)) return obstacle;
  if (p.convert) return "the result is cast";
  if (p.flush_to_zero) return "flush_to_zero is asked for";
  for (int t = 0; t < p.tensors; ++t) {
    const Reading reading = p.tensor[t].reading;
    if (reading == Reading::round_to_half) return "an integer is rounded to the common type";
    if (reading == Reading::as_bool && p.tensor[t].type != DType::bool_ && !is_logical_of_one_type(p))
      return "an operand is made bool";
  }
  return nullptr;
}

/// Whether there is an instance for operands of these types.
const char* obstacle_to_types(const ElementwiseParams& p, const OperandTypes& types) {
  if (has_costly(p) && (types.a != types.b || types.a != p.common || p.out_type != p.common))
    return "the operation takes many instructions, and not all tensors are of one type";
  if (types.a == types.b) {
    const bool to_bool = p.out_type == DType::bool_;
    if ((types.a != p.common && !is_logical_of_one_type(p)) || (p.out_type != p.common && !to_bool))
      return "no instance has these types";
  } else if (p.out_type != DType::f32 ||
             !((is_half(types.a) && types.b == DType::f32) || (types.a == DType::f32 && is_half(types.b)))) {
    return "no instance has these types";
  }
  return nullptr;
}

/// Vectors of the shortest rows that are moved in vectors where all operands are aligned, but rows begin or
/// end inside a vector: the ends of rows go element by element, while all lanes of a warp wait.
constexpr std::int64_t kShortestCutRow = 64;

/// The same where an operand is not aligned: of rows that end with vectors, and of those that do not, for
/// elements of 1 and of 2 bytes. On an H200 shorter rows take up to 2 times the time of chunks and strips
/// (163 bytes), these 0.6 to 1.05 of it. Larger elements whose rows are cut have vectors only where there is
/// one row: with more, vectors take 0.90 to 1.13 of the time of chunks.
constexpr std::int64_t kShortestWholeRow = 8, kShortestCutByteRow = 80, kShortestCutShortRow = 128;

/// Bytes of the smallest output of a costly operation on f16 or bf16 whose rows are cut: in chunks the ends
/// of rows go like all else, which takes 0.85 of the time on an H100 (bf16, 24717 elements).
constexpr std::int64_t kLeastCutCostlyBytes = 256 << 10;

/// Elements of 1 and 2 bytes; others are on multiples of 4 bytes, so that parts of vectors are aligned.
/// Costly operations on two tensors of f16 and bf16 have no registers left.
bool has_unaligned_vectors(const ElementwiseParams& p) {
  return p.width * 4 > kVectorBytes &&
         !(has_costly(p) && is_half(p.tensor[0].type) && p.step[0].operands == 2);
}

/// Bytes of the smallest output that goes flat, and of the smallest of two tensors that goes by misaligned
/// vectors: lanes at the ends of rows wait for one tensor after the other. Up to it strips take 0.86 of the
/// time of both on an H100 (26 random problems), and chunks of elements of 2 bytes 0.97 of that of strips.
constexpr std::int64_t kLeastFlatBytes = 512 << 10, kLeastUnalignedBytes = 512 << 10;

/// Whether a flat output is faster than chunks of rows. On an H200 it takes 0.94 to 0.96 of their time for
/// costly operations on two tensors of f16 or bf16, 1.0 with costly integers and with one tensor, and up to
/// 1.1 with other sizes.
bool prefers_flat(const ElementwiseParams& p) {
  return p.tensors == 2 && has_costly(p) && is_half(p.tensor[0].type) && p.width * 2 == kVectorBytes &&
         has_bytes(p, kLeastFlatBytes) && lies_flat(p);
}

}  // namespace

bool has_bytes(const ElementwiseParams& p, std::int64_t bytes) {
  return plans_as_large() || p.elements * p.out_bytes >= bytes;
}

bool has_vectors_in_rows(const ElementwiseParams& p) {
  return p.aligned && is_along_rows(p) && (rows_end_with_vectors(p) || p.row_vectors >= kShortestCutRow);
}

const char* obstacle_to_typed(const ElementwiseParams& p) {
  if (const char* obstacle = obstacle_to_operation(p)) return obstacle;
  return obstacle_to_types(p, operand_types(p));
}

const char* obstacle_to_transposed(const DeviceProperties& device, const ElementwiseParams& p) {
  const OperandTypes types = operand_types(p);
  if (has_costly(p)) return "the operation takes many instructions";
  if (!is_along_rows(p)) return "the output's rows are strided";
  if (p.transposed_tensor < 0) return "no single operand lies across the output's rows, aligned";
  if (types.a != types.b || types.a != p.common || p.out_type != p.common)
    return "not all tensors are of one type";
  if (!is_floating(p.common) && p.common != DType::i32 && p.common != DType::u32)
    return "the type is neither floating nor i32 or u32";
  return obstacle_to_tiles(device, p);
}

/// Whether rows of which an operand may be misaligned are faster in vectors than otherwise.
bool has_misaligned_rows(const ElementwiseParams& p) {
  const auto is_strided = [](const TensorOperand& tensor) { return tensor.access == Access::strided; };
  if (std::any_of(p.tensor, p.tensor + p.tensors, is_strided)) return false;
  if (p.rank == 1) return true;
  if (rows_end_with_vectors(p)) return p.row_vectors >= kShortestWholeRow;
  if (p.width * 4 <= kVectorBytes) return false;
  return p.row_vectors >= (p.width == kVectorBytes ? kShortestCutByteRow : kShortestCutShortRow);
}

/// Whether every operand is repeated, aligned, or lies in aligned parts of vectors. The rows are misaligned,
/// so that no operand is strided.
bool lies_in_parts(const ElementwiseParams& p) {
  return std::none_of(p.tensor, p.tensor + p.tensors,
                      [](const TensorOperand& tensor) { return tensor.access == Access::unaligned; });
}

ElementwiseKernel typed_kernel(const ElementwiseParams& p) {
  const bool costly = has_costly(p);
  if (is_along_rows(p)) {
    const bool in_chunks =
        costly && is_half(p.out_type) && !rows_end_with_vectors(p) && !has_bytes(p, kLeastCutCostlyBytes);
    const bool misaligned = has_misaligned_rows(p),
               few = p.tensors == 2 && !has_bytes(p, kLeastUnalignedBytes);
    const bool parts = misaligned && !few && lies_in_parts(p);
    if ((has_vectors_in_rows(p) || parts) && !in_chunks) return costly ? Kernel::typed_costly : Kernel::typed;
    if (prefers_flat(p)) return costly ? Kernel::typed_flat_costly : Kernel::typed_flat;
    if (misaligned && !few && !in_chunks && has_unaligned_vectors(p))
      return costly ? Kernel::typed_unaligned_costly : Kernel::typed_unaligned;
    const bool in_strips = misaligned && few && p.width == kVectorBytes;
    if (!in_strips && obstacle_to_chunks(p) == nullptr)
      return costly ? Kernel::typed_chunks_costly : Kernel::typed_chunks;
  }
  if (p.width > 2 && has_bytes(p, kLeastFlatBytes) && lies_flat(p))
    return costly ? Kernel::typed_flat_costly : Kernel::typed_flat;
  return costly ? Kernel::typed_strips_costly : Kernel::typed_strips;
}

void place_operands(ElementwiseParams& p) {
  if (!has_operands_placed(p.kernel)) return;
  const TensorOperand tensors[2] = {p.tensor[0], p.tensor[1]};
  const int transposed = p.transposed_tensor;
  const OperandTypes types = operand_types(p);
  for (int i = 0; i < 2; ++i) {
    const int tensor = tensor_of_operand(p, i);
    p.tensor[i] = tensor < 0 ? TensorOperand{} : tensors[tensor];
    if (tensor < 0) p.tensor[i].access = Access::constant;
    p.tensor[i].type = i == 0 ? types.a : types.b;
  }
  if (transposed >= 0) p.transposed_tensor = p.argument[0].tensor == transposed ? 0 : 1;
  if (p.tensors > 0) p.tensors = p.tensor[1].access == Access::constant ? 1 : 2;
}

}  // namespace relayout::plan
