#include "warp_kernels.hpp"

#include <string>

#include "kernel_language.hpp"
#include "launch.hpp"
#include "relayout/error.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <int W>
__global__ void warp_operations(const std::int32_t* values, test::WarpResults* results) {
  __shared__ std::int32_t shared[test::kWarpTestThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = lane_id<W>();
  const std::int32_t value = values[thread];
  test::WarpResults& result = results[thread];
  result.lane = lane;
  result.rotated = warp_shuffle<W>(value, (lane + 3) % W);
  result.exchanged = warp_shuffle_xor<W>(value, W / 2);
  result.odd = warp_ballot<W>(value % 2 != 0);
  shared[thread] = value;
  warp_barrier<W>();
  result.neighbour = shared[thread - lane + (lane + 1) % W];
}

/// False when this back end has no warps of W lanes.
template <int W>
bool launch_with(const LaunchContext& context, const std::int32_t* values, test::WarpResults* results) {
  if constexpr (W == 32 || kHasWarpsOf64) {
    LaunchShape shape;
    shape.threads_x = test::kWarpTestThreads;
    launch("warp operations", context, shape, warp_operations<W>, values, results);
    return true;
  }
  return false;
}

}  // namespace

void launch_warp_operations(const LaunchContext& context, int warp_size, const std::int32_t* values,
                            test::WarpResults* results) {
  const bool launched = warp_size == 64 ? launch_with<64>(context, values, results)
                                        : warp_size == 32 && launch_with<32>(context, values, results);
  if (!launched)
    throw Error(ErrorCode::unsupported, "no warps of " + std::to_string(warp_size) + " lanes here");
}

}  // namespace relayout::RELAYOUT_BACKEND
