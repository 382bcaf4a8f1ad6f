// The tile kernel with alpha and beta, for elements of one floating type; it is in tile_kernel.hpp. One
// instance serves aligned and unaligned inputs.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tile_scaled(const LaunchContext& context, const TileParams& p) {
  visit_floats(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_tile_of<T, T, true, StoreScaled>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
