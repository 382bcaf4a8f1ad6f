// What the plan and the kernel of tiles must agree on. Numbers alone: the kernel includes this file too.
#pragma once

namespace relayout::plan {

constexpr int kMostTileThreads = 512;
/// Bytes a thread moves per tile, of the larger element type.
constexpr int kTileBytesPerThread = 64;
/// Vectors of a strip: 128 bytes of an output run. The lanes of a warp write a strip of several runs.
constexpr int kTileStripVectors = 8;

}  // namespace relayout::plan
