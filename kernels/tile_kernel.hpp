// tile: out[i] = cast(in[i]), by boxes of the loop nest. A block reads its box in the input's order into
// shared memory and writes it in the output's order, 16 bytes a lane on both sides, whatever the strides
// between the runs and wherever they start.
//
// Shared memory: one row per run of the input, an odd number of 16-byte chunks apart. The rows from which the
// N elements of an output vector come lie a whole block of rows apart (row_begin), so that the rows next to
// each other are those of the next vectors: lanes that put together neighbouring vectors read 4 banks apart,
// lanes of neighbouring runs the words between.
//
// Global traffic: each element once on both sides; with Assembly::skewed up to 31 bytes more per run of the
// input's neighbours, which the next block has just brought into the L2.
#pragma once

#include "kernels/tile_write.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

static_assert(sizeof(TileParams) <= 4000, "a kernel's arguments have 4 KiB");

template <class From, class To, bool kUnaligned, Assembly kAssembly, class Store>
__global__ __launch_bounds__(plan::kMostTileThreads,
                             kUnaligned ? 3 : 4) void tile_kernel(const TileParams p) {
  RELAYOUT_DYNAMIC_SHARED(unsigned char, tile);
  constexpr bool kMixed = kAssembly == Assembly::mixed, kSkewed = kAssembly == Assembly::skewed;
  constexpr bool kRowsInOrder = kMixed || kAssembly == Assembly::vectors;
  const TileTables tables(p, tile);
  fill_tables<From, To, kRowsInOrder ? 1 : vector_count<To>, kMixed || kSkewed ? 0 : vector_count<To>,
              kMixed>(p, tables);
  __syncthreads();
  read_tile<From, To, kUnaligned, Store>(p, tables, tile);
  __syncthreads();
  if constexpr (kMixed) {
    write_mixed<From, To, Store>(p, tables, tile);
  } else if constexpr (kSkewed) {
    write_skewed<From, To, Store>(p, tables, tile);
  } else {
    write_tile<From, To, kAssembly, Store>(p, tables, tile);
  }
}

template <class From, class To, bool kUnaligned, class Store = StoreAsIs>
void launch_tile_of(const LaunchContext& context, const TileParams& p) {
  LaunchShape shape;
  shape.blocks_x = p.tiles;
  shape.threads_x = p.threads;
  shape.shared_bytes = p.shared_bytes;
  const auto run = [&](auto kernel) { launch("permute", context, shape, kernel, p); };
  switch (p.assembly) {
    case Assembly::elements:
      return run(tile_kernel<From, To, kUnaligned, Assembly::elements, Store>);
    case Assembly::words:
      if constexpr (sizeof(To) < 4) return run(tile_kernel<From, To, kUnaligned, Assembly::words, Store>);
      throw Error(ErrorCode::launch, "permute: no words of elements of 4 bytes and more");
    case Assembly::vectors:
      return run(tile_kernel<From, To, kUnaligned, Assembly::vectors, Store>);
    case Assembly::mixed:
      return run(tile_kernel<From, To, kUnaligned, Assembly::mixed, Store>);
    case Assembly::skewed:
      return run(tile_kernel<From, To, kUnaligned, Assembly::skewed, Store>);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
