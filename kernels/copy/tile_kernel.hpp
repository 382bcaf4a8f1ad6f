// tile: out[i] = cast(in[i]), by boxes of the loop nest. A block reads its box in the input's order into
// shared memory, and writes it in the output's order, 16 bytes a lane on both sides, whatever the strides
// between the runs and wherever they start.
//
// Global traffic: each element once on both sides. Unaligned runs add up to 31 bytes of the input's
// neighbours per run, which the next block has just brought into the L2.
#pragma once

#include "core/copy_params.hpp"
#include "kernels/copy/tile_read_groups.hpp"
#include "kernels/copy/tile_read_words.hpp"
#include "kernels/copy/tile_write_scattered.hpp"
#include "kernels/copy/tile_write_unaligned.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

static_assert(sizeof(WithTable<TileParams>) <= 4000, "a kernel's arguments have 4 KiB");

/// How many blocks a multiprocessor has registers for. More blocks hide more of each other's waits; but rows
/// in groups, and rows that are shifted, are in registers together.
template <class From, class To, bool kUnaligned, Assembly kAssembly, class Store>
constexpr int least_blocks() {
  if (TileLayout<To, kAssembly>::kGroup == 4) return 2;
  const bool shifted = kUnaligned && !moves_words<From, To, Store>;
  return shifted || TileLayout<To, kAssembly>::kGroup == 2 ? 3 : 4;
}

/// Whether elements are cast by a table behind the kernel's other shared memory.
template <class From, class To>
constexpr bool tile_cast_table = is_untyped<From>&& has_cast_table<From, To>;

template <class From, class To, bool kUnaligned, Assembly kAssembly, class Store, class Params>
__global__ __launch_bounds__(
    kMaxTileThreads,
    (least_blocks<From, To, kUnaligned, kAssembly, Store>())) void tile_kernel(const Params p) {
  RELAYOUT_DYNAMIC_SHARED(unsigned char, tile);
  using Layout = TileLayout<To, kAssembly>;
  const TileTables tables(p, tile);
  fill_tables<From, To, kAssembly>(p, tables);
  if constexpr (tile_cast_table<From, To>) fill_cast_table(p, tile + p.shared_bytes);
  __syncthreads();
  if constexpr (Layout::kGroup > 1) {
    read_groups<From, To, kUnaligned, Store>(p, tables, tile);
  } else if constexpr (kUnaligned && moves_words<From, To, Store>) {
    read_words<To>(p, tables, tile);
  } else if constexpr (kUnaligned && !moves<From, To, Store> &&
                       (!is_untyped<From> || cast_loads<sizeof(From), sizeof(To)> > 1) &&
                       elements_per_thread<From, To> > vector_count<From>) {
    // Aligned rows leave registers for more loads under way, which the conversions alone do not hide.
    if (p.unaligned) {
      read_tile<From, To, kUnaligned, Store>(p, tables, tile);
    } else {
      read_tile<From, To, false, Store>(p, tables, tile);
    }
  } else {
    read_tile<From, To, kUnaligned, Store>(p, tables, tile);
  }
  __syncthreads();
  if constexpr (kAssembly == Assembly::scattered) {
    write_scattered<From, To, Store>(p, tables, tile);
  } else if constexpr (Layout::kUnaligned) {
    write_unaligned<To, kAssembly, Store>(p, tables, tile);
  } else {
    write_tile<From, To, kAssembly, Store>(p, tables, tile);
  }
}

template <class From, class To, bool kUnaligned, class Store = StoreAsIs, class Params>
void launch_tile_of(const LaunchContext& context, const Params& p) {
  LaunchShape shape;
  shape.blocks_x = p.tiles;
  shape.threads_x = p.threads;
  shape.shared_bytes = p.shared_bytes + (tile_cast_table<From, To> ? kCastTableBytes : 0);
  const auto run = [&](auto kernel) { launch("permute", context, shape, kernel, p); };
  switch (p.assembly) {
    case Assembly::elements:
      return run(tile_kernel<From, To, kUnaligned, Assembly::elements, Store, Params>);
    case Assembly::words:
      if constexpr (sizeof(To) < 4)
        return run(tile_kernel<From, To, kUnaligned, Assembly::words, Store, Params>);
      throw Error(ErrorCode::launch, "permute: no words of elements of 4 bytes and more");
    case Assembly::vectors:
      return run(tile_kernel<From, To, kUnaligned, Assembly::vectors, Store, Params>);
    case Assembly::scattered:
      return run(tile_kernel<From, To, kUnaligned, Assembly::scattered, Store, Params>);
    case Assembly::unaligned_rows:
      if constexpr (!groups_rows<From, To>)
        return run(tile_kernel<From, To, kUnaligned, Assembly::unaligned_rows, Store, Params>);
      throw Error(ErrorCode::launch, "permute: short elements are not stored row by row");
    case Assembly::unaligned_groups:
      if constexpr (groups_rows<From, To>)
        return run(tile_kernel<From, To, kUnaligned, Assembly::unaligned_groups, Store, Params>);
      throw Error(ErrorCode::launch, "permute: no groups of rows of such elements");
    case Assembly::unaligned_columns:
      return run(tile_kernel<From, To, kUnaligned, Assembly::unaligned_columns, Store, Params>);
  }
}

/// Any conversion to elements of type To. One instance serves aligned and unaligned inputs.
template <class To>
void launch_tile_generic_cast_to(const LaunchContext& context, const TileParams& p) {
  visit_element_sizes(p.in_type, [&](auto type) {
    launch_tile_of<Untyped<typename decltype(type)::type>, To, true>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
