// Chunks of rows for kernels that move rows element by element, from any address (kernels/elementwise/
// row_chunks.hpp).
#pragma once

namespace relayout {

/// Lanes that share a chunk, and of a block at most. A lane has as many elements of a chunk as kChunkVectors
/// vectors of the launch's width.
constexpr int kChunkLanes = 32, kChunkVectors = 2, kChunkThreads = 128;

}  // namespace relayout
