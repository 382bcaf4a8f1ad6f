#include "relayout/copy_plan.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/sharing.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void check_alignment(const plan::PlannedCopy& copy, const plan::CopyOperand& operand, const char* role,
                     const void* pointer) {
  if (pointer == nullptr || operand.is_aligned(pointer)) return;
  fail(copy.operation, ErrorCode::invalid_argument,
       std::string("the ") + role + "'s first element must lie on a multiple of " +
           std::to_string(operand.alignment) + " bytes, as in the plan; plan with such a pointer");
}

void check_slot(const plan::PlannedCopy& copy, const char* role, const void* slot) {
  if (reinterpret_cast<std::uintptr_t>(slot) % sizeof(void*) == 0) return;
  fail(copy.operation, ErrorCode::invalid_argument,
       std::string("the ") + role + "'s slot must lie on a multiple of a pointer's " +
           std::to_string(sizeof(void*)) + " bytes");
}

/// Error{null_pointer} for a slot that holds a null pointer. The host, as a device, reads the slot in this
/// call.
void check_slot_holds(const plan::PlannedCopy& copy, const char* role, const void* const* slot) {
  if (copy.kernel == CopyKernel::nothing || slot == nullptr || *slot != nullptr) return;
  fail(copy.operation, ErrorCode::null_pointer, std::string("the ") + role + "'s slot holds a null pointer");
}

void require(bool holds, const char* field, std::int64_t value, const char* rule) {
  if (!holds)
    throw Error(ErrorCode::invalid_argument, std::string("DeviceProperties::") + field + " is " +
                                                 std::to_string(value) + " and must be " + rule);
}

}  // namespace

PlanTarget::PlanTarget(const DeviceProperties& properties) : properties_(&properties) {
  const DeviceProperties& p = properties;
  const int banks = p.shared_memory_banks;
  require(p.warp_size == 32 || p.warp_size == 64, "warp_size", p.warp_size, "32 or 64");
  require(p.multiprocessors >= 1, "multiprocessors", p.multiprocessors, "at least 1");
  require(p.max_threads_per_block >= 256, "max_threads_per_block", p.max_threads_per_block, "at least 256");
  require(p.shared_memory_per_block >= 16384, "shared_memory_per_block", p.shared_memory_per_block,
          "at least 16384");
  require(banks >= 16 && banks <= 256 && (banks & (banks - 1)) == 0, "shared_memory_banks", banks,
          "a power of two from 16 to 256");
  require(p.bank_bytes == 4 || p.bank_bytes == 8, "bank_bytes", p.bank_bytes, "4 or 8");
  require(p.max_grid_x >= 1, "max_grid_x", p.max_grid_x, "at least 1");
  require(p.max_grid_y >= 1, "max_grid_y", p.max_grid_y, "at least 1");
  require(p.max_grid_z >= 1, "max_grid_z", p.max_grid_z, "at least 1");
}

const char* name_of(CopyKernel kernel) noexcept {
  switch (kernel) {
    case CopyKernel::nothing:
      return "nothing";
    case CopyKernel::native:
      return "native";
    case CopyKernel::tile:
      return "tile";
    case CopyKernel::window:
      return "window";
    case CopyKernel::stream:
      return "stream";
    case CopyKernel::rows:
      return "rows";
    case CopyKernel::gather:
      return "gather";
  }
  return "?";
}

CopyPlan keep_plan(const char* operation, const PlanTarget& target, const TensorView& in,
                   const TensorView& out, const CopyPlanOptions& options) {
  auto state = std::make_shared<CopyPlan::State>();
  state->copy = plan_copy_of(operation, target, in, out, options);
  state->in = in;
  state->out = out;
  state->target = PlannedFor(target);
  return CopyPlan(std::move(state));
}

void CopyPlan::run(const Stream& stream) const {
  state_->target.check(state_->copy.operation, stream);
  launch_copy(stream, state_->copy, {state_->in.data(), state_->out.data()});
}

void check_run(const CopyPlan::State& state, const Stream& stream, const void* in, void* out) {
  const plan::PlannedCopy& copy = state.copy;
  state.target.check(copy.operation, stream);
  check_alignment(copy, copy.in, "input", in);
  check_alignment(copy, copy.out, "output", out);
  if (in != nullptr && out != nullptr && plan::ranges_overlap(copy.in.range, in, copy.out.range, out))
    check_disjoint(copy.operation, at_address(state.in, in), at_address(state.out, out));
  check_given(copy, {in, out});
}

void CopyPlan::run(const Stream& stream, const void* in, void* out) const {
  check_run(*state_, stream, in, out);
  launch_copy(stream, state_->copy, {in, out});
}

void CopyPlan::run_indirect(const Stream& stream, const void* const* in_slot, void* const* out_slot) const {
  const plan::PlannedCopy& copy = state_->copy;
  state_->target.check(state_->copy.operation, stream);
  if (!copy.options.indirect) {
    fail(copy.operation, ErrorCode::invalid_argument,
         "the plan was made for pointers that are given; plan with "
         "CopyPlanOptions::indirect for pointers from slots");
  }
  check_slot(copy, "input", in_slot);
  check_slot(copy, "output", out_slot);
  if (stream.device().kind() != DeviceKind::gpu) {
    check_slot_holds(copy, "input", in_slot);
    check_slot_holds(copy, "output", out_slot);
  }
  launch_copy(stream, copy, {state_->in.data(), state_->out.data(), in_slot, out_slot});
}

CopyDetails CopyPlan::details() const {
  return plan::copy_details(state_->copy, state_->in, state_->out, state_->target.properties(),
                            state_->measurement);
}

std::string CopyPlan::explain() const {
  return plan::explain_copy(state_->copy, state_->in, state_->out, state_->target.name(),
                            state_->target.properties(), state_->measurement);
}

}  // namespace relayout
