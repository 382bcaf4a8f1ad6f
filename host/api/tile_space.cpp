#include "relayout/tile_space.hpp"

#include <string>

#include "host/plan/checked_math.hpp"
#include "relayout/error.hpp"

namespace relayout {

void detail::check_tile(const TensorView& view, const Dims& tile, int rank) {
  const auto axes = static_cast<std::size_t>(rank);
  if (view.rank() != rank || tile.size() != axes) {
    throw Error(ErrorCode::rank, "Tiles of " + std::to_string(rank) +
                                     " axes need a view and a tile of as many, not " + view.to_string() +
                                     " and " + to_string(tile) + ".");
  }
  std::int64_t places = 1;
  for (const std::int64_t extent : tile) {
    if (extent < 1) {
      throw Error(ErrorCode::invalid_argument, "The tile " + to_string(tile) + " has an extent below 1.");
    }
    if (!plan::multiply(places, extent, places))
      plan::throw_too_large("The size of the tile " + to_string(tile));
  }
}

}  // namespace relayout
