#include "host/plan/elementwise/byte_table.hpp"

#include <cstdlib>
#include <variant>

namespace relayout::plan {
namespace {

TensorView as_bytes(const TensorView& view) {
  return TensorView(view.data(), DType::u8, view.shape(), view.strides());
}

}  // namespace

const char* obstacle_to_table(const ElementwiseParams& p) {
  if (!has_codes(p)) return "there are no codes";
  if (p.tensors != 1) return "it reads more than one tensor";
  if (p.tensor[0].bytes != 1 || p.out_bytes != 1) return "an operand or the result has more than a byte";
  return nullptr;
}

ElementwiseParams on_each_byte(const ElementwiseParams& params, const ByteTable& bytes, ByteTable& results) {
  ElementwiseParams p = params;
  p.rank = 1;
  p.elements = p.extents[0] = kCastTableBytes;
  p.out_strides[0] = p.tensor[0].strides[0] = 1;
  p.tensor[0].data = bytes.values;
  p.out = results.values;
  p.streaming = false;
  return p;
}

PlannedCopy plan_table_copy(const TensorView& in, const TensorView& out, const DeviceProperties& device) {
  CopyProblem problem = copy_problem(as_bytes(in), as_bytes(out), {});
  problem.table.emplace();
  PlannedCopy copy = plan_copy(std::move(problem), device, false);
  copy.operation = "look up";
  return copy;
}

/// The kernels for codes take 0.94 of the time where problems are small, but for the stream kernel, and 0.75
/// where the copy would read elements that lie apart one by one (random problems, H100).
const char* obstacle_to_table_copy(const PlannedCopy& copy) {
  if (!copy.possible) return "no kernel with a table takes the loop nest";
  if (copy.kernel != CopyKernel::stream && is_small(copy)) return "the problem is small";
  if (copy.kernel != CopyKernel::rows) return nullptr;
  const auto& rows = std::get<RowsParams>(copy.params);
  return std::abs(rows.in_step) > 1 ? "the copy would read elements one by one that lie apart" : nullptr;
}

const char* obstacle_to_table_memory(const PlannedCopy& copy, const void* in, const void* out) {
  if (!copy.in.is_aligned(in) || !copy.out.is_aligned(out))
    return "the memory is less aligned than the planned one";
  // Lanes of the stream kernel read nothing but what they write. Others read the words around their elements,
  // and tiles may overlap.
  if (in != nullptr && in == out && copy.kernel != CopyKernel::stream)
    return "the operand is overwritten, and lanes of the copy read what others write";
  return nullptr;
}

}  // namespace relayout::plan
