#include "host/api/operand_views.hpp"

#include "core/bytes.hpp"
#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/sharing.hpp"
#include "relayout/error.hpp"

namespace relayout {

std::vector<TensorView> broadcast_operands(const std::string& operation,
                                           const std::vector<TensorView>& operands, const TensorView& out) {
  Dims shape;
  for (const TensorView& operand : operands) {
    try {
      shape = broadcast_shapes(shape, operand.shape());
    } catch (const Error& error) {
      fail(operation, error.code(), error.what());
    }
  }
  check_shape(operation.c_str(), out, shape);
  std::vector<TensorView> result;
  for (const TensorView& operand : operands) result.push_back(operand.broadcast_to(out.shape()));
  return result;
}

// A run that is right costs no more than comparisons: views at its addresses, which take memory, are made
// only where one may be wrong.
void check_operand_memory(const std::string& operation, const std::vector<TensorView>& operands,
                          const std::vector<const void*>& inputs, int in_place, const TensorView& out_view,
                          void* out, const std::function<std::string(std::size_t)>& name_of_tensor) {
  const char* name = operation.c_str();
  const TensorView::ByteRange written = out_view.byte_range();
  bool all_may_begin = may_begin_at(out_view, written, out);
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    const TensorView::ByteRange read = operands[t].byte_range();
    all_may_begin = all_may_begin && may_begin_at(operands[t], read, inputs[t]);
    const bool is_operand = t < static_cast<std::size_t>(in_place);
    if (is_operand && inputs[t] == out && have_same_places(operands[t], out_view)) continue;
    if (inputs[t] != nullptr && out != nullptr && plan::ranges_overlap(read, inputs[t], written, out))
      check_disjoint(name, at_address(operands[t], inputs[t]), at_address(out_view, out));
  }
  if (all_may_begin) return;
  for (std::size_t t = 0; t < inputs.size(); ++t)
    check_pointer(name, name_of_tensor(t).c_str(), at_address(operands[t], inputs[t]));
  check_pointer(name, "the output", at_address(out_view, out));
}

}  // namespace relayout
