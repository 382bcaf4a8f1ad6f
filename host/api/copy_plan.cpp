#include "relayout/copy_plan.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "host/api/copy.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void check_alignment(const plan::PlannedCopy& copy, const plan::CopyOperand& operand, const char* role,
                     const void* pointer) {
  if (pointer == nullptr || operand.start(pointer) % static_cast<std::uintptr_t>(operand.alignment) == 0)
    return;
  throw Error(ErrorCode::invalid_argument,
              std::string(copy.operation) + ": the " + role + "'s first element must lie on a multiple of " +
                  std::to_string(operand.alignment) + " bytes, as in the plan; plan with such a pointer");
}

void check_slot(const plan::PlannedCopy& copy, const char* role, const void* slot) {
  if (reinterpret_cast<std::uintptr_t>(slot) % sizeof(void*) == 0) return;
  throw Error(ErrorCode::invalid_argument, std::string(copy.operation) + ": the " + role +
                                               "'s slot must lie on a multiple of a pointer's " +
                                               std::to_string(sizeof(void*)) + " bytes");
}

bool share_bytes(const plan::PlannedCopy& copy, const void* in, const void* out) {
  const auto address = [](const void* pointer, std::int64_t offset) {
    return reinterpret_cast<std::uintptr_t>(pointer) + static_cast<std::uintptr_t>(offset);
  };
  return address(in, copy.in.range.begin) < address(out, copy.out.range.end) &&
         address(out, copy.out.range.begin) < address(in, copy.in.range.end);
}

}  // namespace

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
  if (target.device() != nullptr) state->device = *target.device();
  state->properties = target.properties();
  return CopyPlan(std::move(state));
}

void CopyPlan::run(const Stream& stream) const {
  check_plan_device(state_->copy.operation, state_->device, state_->properties, stream);
  launch_copy(stream, state_->copy, {state_->in.data(), state_->out.data()});
}

void check_run(const CopyPlan::State& state, const Stream& stream, const void* in, void* out) {
  const plan::PlannedCopy& copy = state.copy;
  check_plan_device(state.copy.operation, state.device, state.properties, stream);
  check_alignment(copy, copy.in, "input", in);
  check_alignment(copy, copy.out, "output", out);
  if (in != nullptr && out != nullptr && share_bytes(copy, in, out)) {
    throw Error(ErrorCode::partial_overlap, std::string(copy.operation) + ": the bytes of the output " +
                                                state.out.to_string() + " overlap those of the input " +
                                                state.in.to_string());
  }
  check_given(copy, {in, out});
}

void CopyPlan::run(const Stream& stream, const void* in, void* out) const {
  check_run(*state_, stream, in, out);
  launch_copy(stream, state_->copy, {in, out});
}

void CopyPlan::run_indirect(const Stream& stream, const void* const* in_slot, void* const* out_slot) const {
  const plan::PlannedCopy& copy = state_->copy;
  check_plan_device(state_->copy.operation, state_->device, state_->properties, stream);
  if (!copy.options.indirect) {
    throw Error(ErrorCode::invalid_argument, std::string(copy.operation) +
                                                 ": the plan was made for pointers that are given; plan with "
                                                 "CopyPlanOptions::indirect for pointers from slots");
  }
  check_slot(copy, "input", in_slot);
  check_slot(copy, "output", out_slot);
  launch_copy(stream, copy, {state_->in.data(), state_->out.data(), in_slot, out_slot});
}

CopyDetails CopyPlan::details() const {
  return plan::copy_details(state_->copy, state_->in, state_->out, state_->properties, state_->measurement);
}

std::string CopyPlan::explain() const {
  return plan::explain_copy(state_->copy, state_->in, state_->out,
                            state_->device ? state_->device->to_string() : "", state_->properties,
                            state_->measurement);
}

}  // namespace relayout
