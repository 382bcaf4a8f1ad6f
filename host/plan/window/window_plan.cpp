#include "host/plan/window/window_plan.hpp"

#include "core/window_geometry.hpp"

namespace relayout::plan {
namespace {

bool moves_rows(const WindowShape& shape, const WindowAccess& access, bool converts) {
  const bool time_fastest = access.in_time == 1 && access.out_position == 1 &&
                            (access.channels * access.groups == 1 || access.out_channel != 1);
  return !converts && time_fastest && access.taps == 1 && shape.stride == 1;
}

}  // namespace

WindowPlan plan_window(const WindowShape& shape, const WindowAccess& access, bool converts,
                       std::int64_t pad_left, const DeviceProperties& device) {
  WindowPlan plan;
  const auto half_of_l2 = static_cast<std::int64_t>(device.l2_bytes / 2);
  const std::int64_t rows = access.batch * access.groups * access.channels;
  plan.streaming = rows * access.taps * shape.positions * access.out_bytes > half_of_l2;
  if (moves_rows(shape, access, converts)) {
    plan.kernel = WindowKernel::rows;
    return plan;
  }
  const bool has_kernel = has_vector_window(access.in_bytes, access.out_bytes, converts);
  const VectorAxis axis = has_kernel ? vector_axis(access) : VectorAxis::none;
  if (axis != VectorAxis::none) plan.tile = choose_vector_tile(shape, access, axis, pad_left, device);
  if (plan.tile.positions > 0) {
    plan.kernel = WindowKernel::vector;
    plan.along_time = axis == VectorAxis::time;
    return plan;
  }
  plan.tile = choose_window_tile(shape, device);
  return plan;
}

}  // namespace relayout::plan
