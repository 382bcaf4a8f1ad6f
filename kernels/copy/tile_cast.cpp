// The tile kernel with a cast on the way, with alpha or without; it is in tile_kernel.hpp. One instance
// serves aligned and unaligned inputs; that costs the aligned ones a comparison.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tile_cast(const LaunchContext& context, const TileParams& p) {
  visit_casts(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_tile_of<typename decltype(from)::type, typename decltype(to)::type, true, ReadCast>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
