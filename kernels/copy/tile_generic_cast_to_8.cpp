// The tile kernel with any conversion to elements of 8 bytes. One instance serves aligned and unaligned
// inputs.
#include "kernels/backend_kernels.hpp"
#include "kernels/copy/tile_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A lane has a whole vector of the input, or none.
template <>
constexpr int elements_per_thread<Untyped<std::uint8_t>, std::uint64_t> = 16;

void launch_tile_generic_cast_to_8(const LaunchContext& context, const TileParams& p) {
  visit_element_sizes(p.in_type, [&](auto type) {
    launch_tile_of<Untyped<typename decltype(type)::type>, std::uint64_t, true>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
