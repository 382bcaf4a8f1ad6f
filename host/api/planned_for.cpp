#include "host/api/planned_for.hpp"

#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"

namespace relayout {

PlannedFor::PlannedFor(const PlanTarget& target) : properties_(target.properties()) {
  if (target.device() != nullptr) device_ = *target.device();
}

std::string PlannedFor::name() const { return device_ ? device_->to_string() : std::string(); }

bool PlannedFor::is_native() const { return device_ && relayout::is_native(*device_); }

void PlannedFor::check(const std::string& operation, const Stream& stream) const {
  if (!device_) {
    fail(operation, ErrorCode::unsupported,
         "the plan was made from the properties of " + properties_.name +
             " and cannot run; plan for a Device");
  }
  check_plan_stream(operation, *device_, stream);
}

bool is_native(const PlanTarget& target) noexcept {
  return target.device() != nullptr && is_native(*target.device());
}

void check_plan_stream(const std::string& operation, const Device& planned, const Stream& stream) {
  if (same_device(planned, stream.device())) return;
  fail(operation, ErrorCode::invalid_argument,
       "the plan is for " + planned.to_string() + " and the stream is of " + stream.device().to_string());
}

}  // namespace relayout
