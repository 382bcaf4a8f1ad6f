#include "host/api/copy.hpp"

#include <string>
#include <type_traits>
#include <variant>

#include "core/kernel_table.hpp"
#include "host/api/cast_rule.hpp"
#include "host/api/checks.hpp"
#include "host/api/copy_scale.hpp"
#include "host/api/plan_checks.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// Checks numbers of elements and memory.
void check_copy(const char* operation, const TensorView& in, const TensorView& out) {
  if (in.elements() != out.elements()) {
    fail(operation, ErrorCode::shape,
         "the input " + in.to_string() + " has " + std::to_string(in.elements()) +
             " elements and the output " + out.to_string() + " has " + std::to_string(out.elements()));
  }
  check_planned_memory(operation, in, out);
}

/// The parameters with the operands' addresses; only copies that read slots have them.
template <class Params>
void set_memory(const plan::PlannedCopy& planned, const CopyMemory& memory, Params& params) {
  params.in = reinterpret_cast<const void*>(planned.in.start(memory.in));
  params.out = reinterpret_cast<void*>(planned.out.start(memory.out));
  if constexpr (std::is_base_of_v<CopyOperands, Params>) {
    params.in_slot = memory.in_slot;
    params.out_slot = memory.out_slot;
    params.in_slot_offset = planned.in.offset;
    params.out_slot_offset = planned.out.offset;
  }
}

/// The parameters with the table, for the kernels that have one.
CopyKernelParams with_table(const CopyKernelParams& params, const ByteTable& table) {
  if (const auto* stream = std::get_if<StreamParams>(&params)) return WithTable<StreamParams>{*stream, table};
  if (const auto* rows = std::get_if<RowsParams>(&params)) return WithTable<RowsParams>{*rows, table};
  return WithTable<TileParams>{std::get<TileParams>(params), table};
}

}  // namespace

plan::PlannedCopy plan_copy_of(const char* operation, const PlanTarget& target, const TensorView& in,
                               const TensorView& out, const CopyPlanOptions& options) {
  check_cast_options(operation, in.dtype(), out.dtype(), options);
  check_copy(operation, in, out);
  CopyPlanOptions checked = options;
  checked.scale = checked_scale(operation, options.scale, in.dtype(), out.dtype());
  plan::PlannedCopy planned =
      plan::plan_copy(plan::copy_problem(in, out, checked), target.properties(), is_native(target));
  planned.operation = operation;
  return planned;
}

void check_given(const plan::PlannedCopy& planned, const CopyMemory& memory) {
  if (planned.kernel == CopyKernel::nothing) return;
  const bool has_in = memory.in != nullptr || memory.in_slot != nullptr,
             has_out = memory.out != nullptr || memory.out_slot != nullptr;
  if (!has_in || !has_out) {
    fail(planned.operation, ErrorCode::null_pointer,
         std::string("the ") + (has_in ? "output" : "input") + " has elements and a null pointer");
  }
}

void launch_copy(const Stream& stream, const plan::PlannedCopy& planned, const CopyMemory& memory) {
  if (planned.kernel == CopyKernel::nothing) return;
  check_given(planned, memory);
  CopyKernelParams params = planned.table ? with_table(planned.params, *planned.table) : planned.params;
  std::visit([&](auto& one) { set_memory(planned, memory, one); }, params);
  kernels_of(stream).copy(context_of(stream), params);
}

}  // namespace relayout
