#include "host/plan/elementwise/elementwise_kernel.hpp"

#include <algorithm>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/elementwise/code_kernel.hpp"
#include "host/plan/elementwise/elementwise_rows.hpp"
#include "host/plan/elementwise/elementwise_strips.hpp"
#include "host/plan/elementwise/kernel_obstacles.hpp"
#include "host/plan/elementwise/typed_kernel.hpp"
#include "host/plan/loop_nest.hpp"

namespace relayout::plan {
namespace {

using Kernel = ElementwiseKernel;

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

KernelChoice choose(const DeviceProperties& device, ElementwiseParams& p) {
  const std::int64_t enough_lanes = lanes_to_fill(device);
  put_running_first(p);
  if (has_codes(p) || obstacle_to_vectors(p) != nullptr) return choose_program(p, enough_lanes);
  KernelChoice choice;
  cut_rows(p);
  choice.not_typed = obstacle_to_typed(p);
  if (choice.not_typed == nullptr) {
    choice.not_transposed = obstacle_to_transposed(device, p);
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
  const KernelChoice choice = choose(device, p);
  choose_block_threads(device, choice.kernel, p);
  return choice;
}

}  // namespace relayout::plan
