#include "host/plan/elementwise/elementwise_kernel.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/elementwise/code_kernel.hpp"
#include "host/plan/elementwise/elementwise_rows.hpp"
#include "host/plan/elementwise/elementwise_strips.hpp"
#include "host/plan/elementwise/kernel_obstacles.hpp"
#include "host/plan/loop_nest.hpp"
#include "host/plan/small_problems.hpp"

namespace relayout::plan {
namespace {

using Kernel = ElementwiseKernel;

/// The types of the two operands that typed kernels have; a constant has that of the other.
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
const char* obstacle_to_typed(const ElementwiseParams& p) {
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

const char* obstacle_to_transposed(const DeviceProperties& device, const ElementwiseParams& p,
                                   const OperandTypes& types) {
  if (has_costly(p)) return "the operation takes many instructions";
  if (!is_along_rows(p)) return "the output's rows are strided";
  if (p.transposed_tensor < 0) return "no single operand lies across the output's rows, aligned";
  if (types.a != types.b || types.a != p.common || p.out_type != p.common)
    return "not all tensors are of one type";
  if (!is_floating(p.common) && p.common != DType::i32 && p.common != DType::u32)
    return "the type is neither floating nor i32 or u32";
  return obstacle_to_tiles(device, p);
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

/// Vectors of the shortest rows that are moved in vectors where an operand is not aligned, and where all are
/// but rows begin or end inside a vector: the ends of rows go element by element, while all lanes of a warp
/// wait. On an H200 chunks of rows take 0.84 to 0.97 of the time of unaligned rows of 100 to 200 vectors, and
/// 0.9 to 1.06 of it up to 400. No random problem had cut rows of 64 to 256 vectors.
constexpr std::int64_t kShortestUnalignedRow = 200, kShortestCutRow = 64;

/// Bytes of the smallest output of a costly operation on f16 or bf16 whose rows are cut: in chunks the ends
/// of rows go like all else, which takes 0.85 of the time on an H100 (bf16, 24717 elements).
constexpr std::int64_t kLeastCutCostlyBytes = 256 << 10;

/// Rows of aligned vectors, which end with one or are long.
bool has_vectors_in_rows(const ElementwiseParams& p) {
  return p.aligned && is_along_rows(p) && (rows_end_with_vectors(p) || p.row_vectors >= kShortestCutRow);
}

/// Bytes, and what takes few instructions in 2 bytes: others have no unaligned vectors. On an H200 chunks
/// take 1.02 to 1.2 of their time for these, and 0.9 of it for elements of 4 bytes and more and for functions
/// of f16 and bf16.
bool has_unaligned_vectors(const ElementwiseParams& p) {
  if (p.width * 4 <= kVectorBytes) return false;
  return !is_half(p.tensor[0].type) ||
         (kind_of(p.step[0].operation) == OperationKind::arithmetic && !has_costly(p));
}

/// Whether the output has so many bytes.
bool has_bytes(const ElementwiseParams& p, std::int64_t bytes) {
  return plans_as_large() || p.elements * p.out_bytes >= bytes;
}

/// Bytes of the smallest output that goes flat, and of the smallest of two tensors that goes by unaligned
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

/// Chooses among the kernels for one operation on known types by where the tensors lie.
Kernel typed_kernel(const ElementwiseParams& p) {
  const bool costly = has_costly(p);
  if (is_along_rows(p)) {
    const bool in_chunks =
        costly && is_half(p.out_type) && !rows_end_with_vectors(p) && !has_bytes(p, kLeastCutCostlyBytes);
    if (has_vectors_in_rows(p) && !in_chunks) return costly ? Kernel::typed_costly : Kernel::typed;
    if (prefers_flat(p)) return costly ? Kernel::typed_flat_costly : Kernel::typed_flat;
    const auto is_strided = [](const TensorOperand& tensor) { return tensor.access == Access::strided; };
    const bool unaligned = has_unaligned_vectors(p) && p.row_vectors >= kShortestUnalignedRow &&
                           !std::any_of(p.tensor, p.tensor + p.tensors, is_strided);
    if (unaligned && (p.tensors < 2 || has_bytes(p, kLeastUnalignedBytes)))
      return costly ? Kernel::typed_unaligned_costly : Kernel::typed_unaligned;
    if ((!unaligned || p.width * 2 == kVectorBytes) && obstacle_to_chunks(p) == nullptr)
      return costly ? Kernel::typed_chunks_costly : Kernel::typed_chunks;
  }
  if (p.width > 2 && has_bytes(p, kLeastFlatBytes) && lies_flat(p))
    return costly ? Kernel::typed_flat_costly : Kernel::typed_flat;
  return costly ? Kernel::typed_strips_costly : Kernel::typed_strips;
}

/// One operation in f32, accurate and rounded to nearest, to f32 or bool.
const char* obstacle_to_mixed(const ElementwiseParams& p) {
  if (p.steps != 1) return "there are several operations";
  if (p.compute != ComputeClass::f32 || p.convert ||
      (p.out_type != DType::bool_ && (p.out_type != DType::f32 || p.common != DType::f32)))
    return "the operation is not one in f32 to f32 or bool";
  if (p.precision != Precision::accurate || p.flush_to_zero || p.rounding != Rounding::nearest_even)
    return "a rounding, an approximation or flush_to_zero is asked for";
  for (int t = 0; t < p.tensors; ++t) {
    if (p.tensor[t].bytes > 4 && p.tensors > 2) return "an operand of three has elements of 8 bytes";
  }
  return obstacle_to_cutting(p);
}

/// Chooses among the kernels for mixed types by where the tensors lie.
Kernel mixed_kernel(const ElementwiseParams& p) {
  if (has_vectors_in_rows(p)) return Kernel::mixed;
  return obstacle_to_chunks(p) == nullptr ? Kernel::mixed_chunks : Kernel::mixed_strips;
}

Kernel chain_kernel(const ElementwiseParams& p) {
  if (p.precision != Precision::accurate) return Kernel::chain_approximate;
  if (!has_costly(p)) return Kernel::chain_cheap;
  return has_costly(p, is_activation) ? Kernel::chain_costly : Kernel::chain_activation;
}

Kernel vectors_kernel(const ElementwiseParams& p) {
  if (p.precision != Precision::accurate) return Kernel::vectors_approximate;
  return has_costly(p) ? Kernel::vectors_costly : Kernel::vectors;
}

/// Sums and products may have either operand as the first.
void put_running_first(ElementwiseParams& p) {
  for (int s = 0; s < p.steps; ++s) {
    const Operation operation = p.step[s].operation;
    if (operation == Operation::add || operation == Operation::mul) p.step[s].running = 0;
  }
}

/// Lanes of a multiprocessor below which a lane has half a strip of what takes most instructions: costly
/// operations of f64 and of integers of 4 and 8 bytes. A lane computes its elements in turns, one after the
/// other. On an H100 half strips take 0.94 of the time of whole ones (31 random problems, 0.68 to 1.12), and
/// 1.03 to 1.15 of it from so many lanes on. Other types have no use for them at any size.
constexpr std::int64_t kFewLanes = 512;

bool has_half_strips(const DeviceProperties& device, const ElementwiseParams& p) {
  return has_costly(p) && may_have_half_strips(p.compute == ComputeClass::f32, p.out_bytes) &&
         !has_bytes(p, kFewLanes * device.multiprocessors * strip_elements(p.width) * p.out_bytes);
}

/// Cuts the rows of a nest as a kernel for one operation wants them.
void cut_further(const DeviceProperties& device, ElementwiseParams& p, Kernel kernel) {
  if (is_in_chunks(kernel)) cut_chunks(p);
  if (is_flat(kernel)) cut_flat(p);
  if (!is_in_strips(kernel)) return;
  const bool halved = kernel == Kernel::typed_strips_costly && has_half_strips(device, p);
  cut_strips(p, strip_elements(p.width) / (halved ? 2 : 1));
  p.strips.whole = p.strips.whole && !halved;
}

/// Any program whose offsets fit, but for what lies in vectors.
const char* obstacle_to_strips(const ElementwiseParams& p) {
  if (const char* obstacle = obstacle_to_cutting(p)) return obstacle;
  if (p.aligned && is_along_rows(p)) return "all rows lie in aligned vectors";
  return nullptr;
}

/// Cuts a program's rows, and these into strips where it runs on strips; whether it does.
bool choose_strips(ElementwiseParams& p, KernelChoice& choice) {
  cut_program_rows(p);
  choice.not_strips = obstacle_to_strips(p);
  if (choice.not_strips != nullptr) return false;
  p.precision = Precision::accurate;
  cut_strips(p, p.width, 0, false);
  choice.kernel = has_costly(p) ? Kernel::program_strips_costly : Kernel::program_strips;
  return true;
}

/// The choice for more tensors, and for codes.
KernelChoice choose_program(ElementwiseParams& p, std::int64_t enough_lanes) {
  KernelChoice choice;
  p.precision = Precision::accurate;
  if (has_codes(p)) {
    cut_rows(p, kVectorBytes);
    choice.not_code_rows = obstacle_to_code_rows(p);
    if (choice.not_code_rows == nullptr) {
      share_rows(p);
      choice.kernel = Kernel::code_rows;
      return choice;
    }
    choice.not_one_on_codes = choose_one_on_codes(p, enough_lanes, choice.kernel);
    if (choice.not_one_on_codes == nullptr) return choice;
  } else {
    choice.not_vectors = obstacle_to_vectors(p);
  }
  if (choose_strips(p, choice)) return choice;
  choice.kernel = has_costly(p) ? Kernel::program_costly : Kernel::program;
  return choice;
}

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

KernelChoice choose(const DeviceProperties& device, ElementwiseParams& p) {
  const std::int64_t enough_lanes = lanes_to_fill(device);
  put_running_first(p);
  if (has_codes(p) || obstacle_to_vectors(p) != nullptr) return choose_program(p, enough_lanes);
  KernelChoice choice;
  cut_rows(p);
  const OperandTypes types = operand_types(p);
  choice.not_typed = obstacle_to_typed(p);
  if (choice.not_typed == nullptr) choice.not_typed = obstacle_to_types(p, types);
  if (choice.not_typed == nullptr) {
    choice.not_transposed = obstacle_to_transposed(device, p, types);
    choice.kernel = choice.not_transposed == nullptr ? Kernel::transposed : typed_kernel(p);
    cut_further(device, p, choice.kernel);
    return choice;
  }
  choice.not_chain = obstacle_to_chain(p);
  if (choice.not_chain == nullptr) {
    choice.kernel = chain_kernel(p);
    return choice;
  }
  cut_narrow_rows(p);
  choice.not_mixed = obstacle_to_mixed(p);
  if (choice.not_mixed == nullptr) {
    choice.kernel = mixed_kernel(p);
    cut_further(device, p, choice.kernel);
    return choice;
  }
  if (choose_strips(p, choice)) return choice;
  cut_rows(p);
  cut_wide_rows(p);
  choice.kernel = vectors_kernel(p);
  return choice;
}

}  // namespace

KernelChoice choose_kernel(const DeviceProperties& device, ElementwiseParams& p) {
  if (has_one_result(p)) make_constant(p);
  const KernelChoice choice = choose(device, p);
  choose_block_threads(device, choice.kernel, p);
  return choice;
}

void place_operands(const KernelChoice& choice, ElementwiseParams& p) {
  p.kernel = choice.kernel;
  if (!has_operands_placed(choice.kernel)) return;
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
