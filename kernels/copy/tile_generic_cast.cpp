// The tile kernel with any conversion between element types, which it reads from the parameters; it is in
// tile_kernel.hpp. Instances know the sizes of both elements. One serves aligned and unaligned inputs.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tile_generic_cast(const LaunchContext& context, const TileParams& p) {
  visit_both_sizes(p.in_type, p.out_type, [&](auto from, auto to) {
    launch_tile_of<Untyped<typename decltype(from)::type>, typename decltype(to)::type, true>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
