// The tile kernel with any conversion to elements of 2 bytes. One instance serves aligned and unaligned
// inputs.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tile_generic_cast_to_2(const LaunchContext& context, const TileParams& p) {
  visit_element_sizes(p.in_type, [&](auto type) {
    launch_tile_of<Untyped<typename decltype(type)::type>, std::uint16_t, true>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
