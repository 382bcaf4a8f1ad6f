// What the copy kernels are told. Plain data: the planner fills it, the kernels and the native code read it.
// Strides count elements of the operand's own type; all sizes are 64-bit.
#pragma once

#include <cstdint>
#include <variant>

#include "core/copy_operands.hpp"
#include "core/tile_params.hpp"
#include "core/window_params.hpp"

#include <relayout/dtype.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// The gather kernel's blocks.
constexpr int kGatherThreads = 256, kGatherElementsPerThread = 4;

/// The stream kernel's blocks; bytes of the larger type.
constexpr int kStreamThreads = 256, kStreamBytesPerThread = 64;

/// out[i] = cast(in[i]) for i < elements, both from a 16-byte boundary on.
struct StreamParams : CopyOperands {
  std::int64_t elements = 0;
  bool streaming = false;  // the output is too large for the caches to be of use to a reader: past them
};

/// out[i] = cast(in[i]) over a normalised loop nest (host/plan): axis rank-1 is the fastest of the output.
/// Where the two views have no nest in common, the input has axes of its own, and element number i of one
/// goes to element number i of the other, both in C order.
struct CopyParams : CopyOperands {
  int rank = 0;
  std::int64_t elements = 0;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t in_strides[kMaxRank] = {};
  std::int64_t out_strides[kMaxRank] = {};
  /// Axes of the input's own, with in_strides; 0: it has the extents of the nest.
  int in_rank = 0;
  std::int64_t in_extents[kMaxRank] = {};
  /// The axis along which the input is fastest. Native code walks along it and rank-1.
  int in_axis = 0;
};

/// A copy's parameters. Their type names its kernel: gather, stream, tile, and the window kernel with 16-byte
/// accesses.
using CopyKernelParams = std::variant<StreamParams, CopyParams, TileParams, WindowParams>;

}  // namespace relayout
