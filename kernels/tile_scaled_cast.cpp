// tile with alpha and a cast on the way; the kernel is in tile_kernel.hpp. One instance serves aligned and
// unaligned inputs.
#include "kernels/backend_kernels.hpp"
#include "kernels/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tile_scaled_cast(const LaunchContext& context, const TileParams& p) {
  visit_casts(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_tile_of<typename decltype(from)::type, typename decltype(to)::type, true, ReadScaled>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
