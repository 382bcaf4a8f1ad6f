#include <cstdint>
#include <string>

#include "host/api/checks.hpp"
#include "platform/backend.hpp"
#include "relayout/map/gpu_calls.hpp"

namespace relayout::detail {
namespace {

void check_within(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorCode::launch, "launch: " + std::to_string(value) + " " + what + " are not within " +
                                     std::to_string(least) + " and " + std::to_string(most));
}

}  // namespace

void check_kernel_launch(const Device& device, const LaunchShape& shape, const char* compiled_for) {
  const bool here = compiled_for == nullptr ? device.kind() == DeviceKind::emulated
                                            : device.kind() == DeviceKind::gpu &&
                                                  device.backend().name() == std::string(compiled_for);
  if (!here)
    throw Error(
        ErrorCode::unsupported,
        "launch: the file of this call has no kernels for " + device.to_string() +
            (compiled_for == nullptr ? ": it runs on Device::emulated(); nvcc or hipcc compile it for GPUs"
                                     : ": it was compiled for GPUs by " + std::string(compiled_for)));
  const DeviceProperties& limits = device.properties();
  check_within("blocks along x", shape.blocks_x, 1, limits.max_grid_x);
  check_within("blocks along y", shape.blocks_y, 1, limits.max_grid_y);
  check_within("blocks along z", shape.blocks_z, 1, limits.max_grid_z);
  const std::int64_t most = limits.max_threads_per_block;
  check_within("threads along x", shape.threads_x, 1, most);
  check_within("threads along y", shape.threads_y, 1, most);
  check_within("threads along z", shape.threads_z, 1, most);
  check_within("threads of a block", std::int64_t{shape.threads_x} * shape.threads_y * shape.threads_z, 1,
               most);
  if (shape.shared_bytes > static_cast<std::size_t>(limits.shared_memory_per_block))
    throw Error(ErrorCode::launch, "launch: " + std::to_string(shape.shared_bytes) +
                                       " bytes of dynamic shared memory are more than the " +
                                       std::to_string(limits.shared_memory_per_block) + " of " +
                                       device.to_string());
}

void throw_gpu_error(const char* operation, ErrorCode code, const char* name, const char* text) {
  fail(operation, code, std::string("failed on the GPU: ") + name + ", " + text);
}

}  // namespace relayout::detail
