// tile: out[i] = cast(in[i]), by boxes of the loop nest. A block reads its box in the input's order into
// shared memory, and writes it in the output's order, 16 bytes a lane on both sides, whatever the strides
// between the runs and wherever they start.
//
// Global traffic: each element once on both sides. Unaligned runs add up to 31 bytes of the input's
// neighbours per run, which the next block has just brought into the L2.
#pragma once

#include "core/copy_params.hpp"
#include "kernels/block_index.hpp"
#include "kernels/copy/tile_read_groups.hpp"
#include "kernels/copy/tile_read_words.hpp"
#include "kernels/copy/tile_write_scattered.hpp"
#include "kernels/copy/tile_write_unaligned.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

static_assert(sizeof(WithTable<TileParams>) <= 4000, "a kernel's arguments have 4 KiB");

/// One kernel has all assemblies, since most of its code comes before the writing and is the same for them.
/// Rows in groups have a kernel of their own, because they wait in registers together.
enum class Rows { alone, grouped };

/// The two steps of a block that depend on the assembly.
struct FillTables {
  template <class From, class To, Assembly kAssembly, class Store>
  static __device__ __forceinline__ void run(const TileParams& p, const TileTables& tables, unsigned char*) {
    fill_tables<From, To, kAssembly>(p, tables);
  }
};
struct WriteTile {
  template <class From, class To, Assembly kAssembly, class Store>
  static __device__ __forceinline__ void run(const TileParams& p, const TileTables& tables,
                                             unsigned char* tile) {
    if constexpr (kAssembly == Assembly::scattered) {
      write_scattered<From, To, Store>(p, tables, tile);
    } else if constexpr (is_unaligned(kAssembly)) {
      write_unaligned<To, kAssembly, Store>(p, tables, tile);
    } else {
      write_tile<From, To, kAssembly, Store>(p, tables, tile);
    }
  }
};

/// Runs a step for the plan's assembly.
template <class Action, class From, class To, Rows kRows, class Store>
__device__ __forceinline__ void run_for_assembly(const TileParams& p, const TileTables& tables,
                                                 unsigned char* tile) {
  if constexpr (kRows == Rows::grouped) {
    Action::template run<From, To, Assembly::unaligned_groups, Store>(p, tables, tile);
  } else {
    switch (p.assembly) {
      case Assembly::elements:
        return Action::template run<From, To, Assembly::elements, Store>(p, tables, tile);
      case Assembly::vectors:
        return Action::template run<From, To, Assembly::vectors, Store>(p, tables, tile);
      case Assembly::scattered:
        return Action::template run<From, To, Assembly::scattered, Store>(p, tables, tile);
      case Assembly::unaligned_columns:
        return Action::template run<From, To, Assembly::unaligned_columns, Store>(p, tables, tile);
      case Assembly::unaligned_rows:
        if constexpr (!groups_rows<From, To>)
          Action::template run<From, To, Assembly::unaligned_rows, Store>(p, tables, tile);
        return;
      default:
        if constexpr (sizeof(To) < 4) Action::template run<From, To, Assembly::words, Store>(p, tables, tile);
    }
  }
}

/// How many blocks a multiprocessor has registers for. More blocks hide more of each other's waits; but rows
/// in groups, and rows that are shifted, are in registers together.
template <class From, class To, bool kUnaligned, Rows kRows, class Store>
constexpr int least_blocks() {
  constexpr bool kGrouped = kRows == Rows::grouped;
  if (kGrouped && sizeof(To) == 1) return 2;
  const bool shifted = kUnaligned && !moves_words<From, To, Store>;
  return shifted || kGrouped ? 3 : 4;
}

/// Whether elements are cast by a table behind the kernel's other shared memory.
template <class From, class To>
constexpr bool tile_cast_table = is_untyped<From>&& has_cast_table<From, To>;

template <class From, class To, bool kUnaligned, Rows kRows, class Store, class Params>
__global__ __launch_bounds__(
    kMaxTileThreads,
    (least_blocks<From, To, kUnaligned, kRows, Store>())) void tile_kernel(const Params params) {
  const Params& p = in_place(params);
  if (is_spare(block_index(), p.tiles)) return;
  RELAYOUT_DYNAMIC_SHARED(unsigned char, tile);
  const TileTables tables(p, tile);
  run_for_assembly<FillTables, From, To, kRows, Store>(p, tables, tile);
  if constexpr (tile_cast_table<From, To>) fill_cast_table(p, tile + p.shared_bytes);
  __syncthreads();
  if constexpr (kRows == Rows::grouped) {
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
  run_for_assembly<WriteTile, From, To, kRows, Store>(p, tables, tile);
}

template <class From, class To, bool kUnaligned, class Store = StoreAsIs, class Params>
void launch_tile_of(const LaunchContext& context, const Params& p) {
  const NumberedBlocks shape =
      numbered_blocks(p.tiles, p.threads, p.shared_bytes + (tile_cast_table<From, To> ? kCastTableBytes : 0));
  const auto run = [&](auto kernel) { launch("permute", context, shape, kernel, p); };
  if (p.assembly == Assembly::words && sizeof(To) >= 4)
    throw Error(ErrorCode::launch, "permute: no words of elements of 4 bytes and more");
  if (p.assembly == Assembly::unaligned_rows && groups_rows<From, To>)
    throw Error(ErrorCode::launch, "permute: short elements are not stored row by row");
  if (p.assembly != Assembly::unaligned_groups)
    return run(tile_kernel<From, To, kUnaligned, Rows::alone, Store, Params>);
  if constexpr (groups_rows<From, To>) {
    run(tile_kernel<From, To, kUnaligned, Rows::grouped, Store, Params>);
  } else {
    throw Error(ErrorCode::launch, "permute: no groups of rows of such elements");
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
