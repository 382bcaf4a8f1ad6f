// The kernels behind tile_transfer_test, one copy per back end.
#pragma once

#include "core/launch_context.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {

/// One block for every tile of `out`, through shared memory. It reads the tile of `in` whose index is `shift`
/// tiles further on, with `padding` in the places outside `in`. Views have 1, 2 or 3 axes and equal types of
/// 1, 2, 4 or 8 bytes.
struct TileWalkCase {
  TensorView in, out;
  Dims tile, shift;
  TilePadding padding = TilePadding::zero;
  int threads = 64;
};

using TileWalkLauncher = void (*)(const LaunchContext&, const TileWalkCase&);

}  // namespace relayout::test

namespace relayout::emulator {
void launch_tile_walk(const LaunchContext& context, const test::TileWalkCase& c);
}
namespace relayout::cuda {
void launch_tile_walk(const LaunchContext& context, const test::TileWalkCase& c);
}
namespace relayout::hip {
void launch_tile_walk(const LaunchContext& context, const test::TileWalkCase& c);
}
