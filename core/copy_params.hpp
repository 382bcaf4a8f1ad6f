// What the copy kernels are told. Plain data: the planner fills it, the kernels and the native code read it.
// Strides count elements of the operand's own type; all sizes are 64-bit.
#pragma once

#include <cstdint>
#include <variant>

#include "core/copy_operands.hpp"
#include "core/divisor.hpp"
#include "core/tile_params.hpp"
#include "core/window_params.hpp"

#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// The gather kernel's largest block, and the elements of a lane: fewer of 16 bytes, since a launch has few
/// of them.
constexpr int kMaxGatherThreads = 256;
constexpr int gather_elements_per_thread(std::size_t bytes) { return bytes == 16 ? 2 : 4; }

/// An axis of a nest; strides in bytes.
struct ByteAxis {
  Divisor extent;
  std::int64_t in = 0, out = 0;
};

/// The stream kernel's blocks, at most; bytes of the larger type that a lane moves, or a short one; vectors
/// of a lane where rows are unaligned.
constexpr int kStreamThreads = 256, kStreamBytesPerThread = 64, kStreamVectorBytes = 16,
              kUnalignedVectors = 2;

/// out[i] = cast(in[i]) for rows of elements that follow each other on both sides. Axes [0, outer_rank) lead
/// to the rows. All rows of both sides begin on multiples of `access`, the bytes of an access: 4, 8 or 16;
/// casts are of one row, and 16. Or they are unaligned: rows begin anywhere.
struct StreamParams : CopyOperands {
  std::int64_t elements = 0;  // of a row
  int access = 16, threads = kStreamThreads, outer_rank = 0;
  int bytes_per_thread = kStreamBytesPerThread;  // kStreamVectorBytes where much is moved as it is
  bool unaligned = false;
  bool streaming = false;   // the output is too large for the caches to be of use to a reader: past them
  std::int64_t blocks = 0;  // of all rows; of one, where there are several, less than 2^31:
  Divisor row_blocks;
  /// Where it is unaligned: which bytes of the input may be read, counted from its first element.
  std::int64_t in_begin = 0, in_end = 0;
  ByteAxis axes[kMaxRank];
};

/// How the rows kernel reads the elements of an output vector.
enum class RowsRead : std::int32_t {
  pieces,    // as one or two pieces of the input, each by the aligned words around it
  elements,  // one by one
  lanes      // one by one, and they are stored that way: neighbouring lanes have neighbouring elements
};

/// The rows kernel's blocks; how many vectors a lane has under way.
constexpr int kRowsThreads = 256;
constexpr int rows_vectors_per_thread(RowsRead read) { return read == RowsRead::elements ? 1 : 2; }
/// RowsRead::lanes: lanes that share a chunk of elements that follow each other in the output's order. Those
/// of a lane lie as many elements apart.
constexpr int kRowsChunkLanes = 32;

/// out[i] = cast(in[i]) where the output consists of runs, elements that follow each other in memory. A lane
/// makes a whole vector of a run, cut at the run's ends, that begins on a multiple of its size. Axes
/// [0, outer_rank) lead to the runs, the others lie within one. A row is what runs along the innermost axis.
struct RowsParams : CopyOperands {
  RowsRead read = RowsRead::elements;
  /// Elements of a vector; RowsRead::lanes: of a chunk that a lane has.
  int count = 1;
  int outer_rank = 0, rank = 0;
  /// What a run has: elements, rows, and vectors, of which those at its ends count whole.
  std::int64_t run_elements = 1;
  std::uint32_t run_rows = 1;
  Divisor run_vectors;
  /// What a row has: elements, which are the run's where it has no other axis; and bytes of the input from
  /// one element to the next.
  std::int64_t row_elements = 1, in_step = 0;
  /// What all runs have together: vectors, and rows, less than 2^31 of each. RowsRead::lanes: also elements.
  std::int64_t vectors = 0, rows = 1;
  /// Rows that the vectors of a block touch at most, and one more. An entry of theirs has the offset of the
  /// input; RowsRead::lanes: and that of the output behind it.
  std::uint32_t table_rows = 1;
  /// Which bytes of the input may be read, counted from its first element.
  std::int64_t in_begin = 0, in_end = 0;
  bool streaming = false;  // as in StreamParams
  ByteAxis axes[kMaxRank];
};

/// An axis that the gather kernel splits a flat index by, and its strides. What it needs lies together, since
/// a lane waits for each part of the parameters that it reads. Extent: Divisor below 2^31 elements, else a
/// plain number. Offset: a type that holds the distance of any element from the first.
template <class Extent, class Offset>
struct GatherAxis {
  Extent extent;
  Offset in = 0, out = 0;
};

/// out[i] = cast(in[i]) for any loop nest, and between shapes that have none in common (CopyParams).
template <class Extent, class Offset>
struct GatherParams : CopyOperands {
  std::int64_t elements = 0;
  int threads = kMaxGatherThreads;  // of a block
  int rank = 0, in_rank = 0;
  /// The nest's axes, and the input's own. Where the input has its own, `in` of the nest's axes is 0.
  GatherAxis<Extent, Offset> axes[kMaxRank], in_axes[kMaxRank];
};
/// By what fits 32 bits: indices and offsets, indices alone, or neither.
using NearGatherParams = GatherParams<Divisor, std::int32_t>;
using FarGatherParams = GatherParams<Divisor, std::int64_t>;
using HugeGatherParams = GatherParams<std::uint64_t, std::int64_t>;
static_assert(sizeof(FarGatherParams) < 4000, "room for a kernel's parameters");

/// out[i] = cast(in[i]) by native code, over a normalised loop nest (host/plan): axis rank-1 is the fastest
/// of the output. Where the two views have no nest in common, the input has axes of its own, and element
/// number i of one goes to element number i of the other, both in C order.
struct CopyParams : CopyOperands {
  int rank = 0;
  std::int64_t elements = 0;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t in_strides[kMaxRank] = {};
  std::int64_t out_strides[kMaxRank] = {};
  /// Axes of the input's own, with in_strides; 0: it has the extents of the nest.
  int in_rank = 0;
  std::int64_t in_extents[kMaxRank] = {};
  /// The axis along which the input is fastest. Boxes are walked along it and rank-1.
  int in_axis = 0;
};

/// out[i] = table[in[i]], of elements of 1 byte. It is a type of its own, since longer parameters make a
/// launch longer, and other copies need no table.
template <class Params>
struct WithTable : Params {
  ByteTable table;
};

/// A copy's parameters. Their type names its kernel: stream, rows, tile, the window kernel with 16-byte
/// accesses, gather, and native code.
using CopyKernelParams = std::variant<StreamParams, RowsParams, TileParams, WindowParams, NearGatherParams,
                                      FarGatherParams, HugeGatherParams, WithTable<StreamParams>,
                                      WithTable<RowsParams>, WithTable<TileParams>, CopyParams>;

}  // namespace relayout
