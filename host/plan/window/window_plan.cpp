#include "host/plan/window/window_plan.hpp"

#include "core/window_geometry.hpp"

namespace relayout::plan {
namespace {

bool moves_rows(const WindowShape& shape, const WindowAccess& access, bool converts) {
  const bool time_fastest = access.in_time == 1 && access.out_position == 1 &&
                            (access.channels * access.groups == 1 || access.out_channel != 1);
  return !converts && time_fastest && access.taps == 1 && shape.stride == 1;
}

WindowAccess access_of(const WindowParams& p) {
  WindowAccess access;
  access.in = reinterpret_cast<std::uintptr_t>(p.in);
  access.out = reinterpret_cast<std::uintptr_t>(p.out);
  access.in_bytes = static_cast<std::int64_t>(size_of(p.in_type));
  access.out_bytes = static_cast<std::int64_t>(size_of(p.out_type));
  access.batch = p.batch;
  access.groups = p.groups;
  access.channels = p.channels;
  access.length = p.length;
  access.positions = p.positions;
  access.taps = p.taps;
  access.in_batch = p.in_batch;
  access.in_channel = p.in_channel;
  access.in_time = p.in_time;
  access.out_batch = p.out_batch;
  access.out_group = p.out_group;
  access.out_position = p.out_position;
  access.out_tap = p.out_tap;
  access.out_channel = p.out_channel;
  return access;
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

WindowKernel plan_window(const DeviceProperties& device, WindowParams& params) {
  const WindowShape shape{params.channels, params.positions, params.stride,
                          (params.taps - 1) * params.dilation + 1,
                          static_cast<std::int64_t>(size_of(params.out_type))};
  const WindowPlan planned =
      plan_window(shape, access_of(params), params.in_type != params.out_type, params.pad_left, device);
  params.tile_positions = planned.tile.positions;
  params.tile_channels = planned.tile.channels;
  params.tile_samples = planned.tile.samples;
  params.tile_pitch = planned.tile.pitch;
  params.shared_bytes = planned.tile.shared_bytes;
  params.along_time = planned.along_time;
  params.streaming = planned.streaming;
  return planned.kernel;
}

}  // namespace relayout::plan

namespace relayout {

bool plan_vector_window(const DeviceProperties& device, WindowParams& params) {
  return plan::plan_window(device, params) == plan::WindowKernel::vector;
}

}  // namespace relayout
