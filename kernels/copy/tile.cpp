// The tile kernel for elements that move as they are; it is in tile_kernel.hpp.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tile(const LaunchContext& context, const TileParams& p) {
  if (p.generic_cast) return launch_tile_generic_cast(context, p);
  if (p.in_type != p.out_type) return launch_tile_cast(context, p);
  if (p.scaled) return launch_tile_scaled(context, p);
  visit_element_sizes(p.in_type, [&](auto type) {
    using T = typename decltype(type)::type;
    if (p.unaligned) {
      launch_tile_of<T, T, true>(context, p);
    } else {
      launch_tile_of<T, T, false>(context, p);
    }
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
