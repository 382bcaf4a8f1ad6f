// What the plan and the kernel of tiles must agree on. Numbers alone: the kernel includes this file too.
#pragma once

namespace relayout {

constexpr int kMaxTileThreads = 512;
/// Bytes a thread moves per tile, of the larger element type.
constexpr int kTileBytesPerThread = 64;
/// Vectors of a strip: 128 bytes of an output run. The lanes of a warp write a strip of several runs.
constexpr int kTileStripVectors = 8;
/// Unaligned output runs are written from such a boundary of memory on.
constexpr int kTileRunAlignment = 32;
/// Shared memory behind the tile: where it lies, an entry for each row of the input and each run of the
/// output, and one for each vector of a run.
constexpr int kTileBaseBytes = 48, kTileRowBytes = 8, kTileVectorBytes = 4;

}  // namespace relayout
