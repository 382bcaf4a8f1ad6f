// What the plans and the kernels of windows must agree on. Constexpr functions of numbers: the kernels
// include this file too.
#pragma once

#include <cstdint>

namespace relayout {

/// Threads of a block: of the kernel with 16-byte accesses, and of the other two.
constexpr int kVectorWindowThreads = 256, kWindowThreads = 256;

/// Blocks of the kernel for any strides whose registers a multiprocessor has room for.
constexpr int kWindowTileBlocks = 6;

/// Elements of the widest pack that it brings into shared memory at once: 16 bytes of the wider type.
constexpr int window_fill_pack(int in_bytes, int out_bytes) {
  return 16 / (in_bytes > out_bytes ? in_bytes : out_bytes);
}
/// And of the narrowest: words of 4 bytes on both sides.
constexpr int narrow_window_fill_pack(int in_bytes, int out_bytes) {
  const int least = in_bytes < out_bytes ? in_bytes : out_bytes;
  return least < 4 ? 4 / least : 1;
}

/// Packs that a thread of the kernel for whole rows copies.
constexpr int kRowPacksPerThread = 4;

/// Whether the kernel has code for elements of these sizes in bytes, `converts` from one type to another. f16
/// to bf16 and back is left out: nobody's hot path, and its 64 conversions a thread outgrow the scalar
/// registers of CDNA.
constexpr bool has_vector_window(std::int64_t in_bytes, std::int64_t out_bytes, bool converts) {
  const bool between_halves = converts && in_bytes == 2 && out_bytes == 2;
  return (out_bytes == 2 || out_bytes == 4) && !between_halves;
}

/// Loads along channels fill whole packs of the output.
constexpr bool has_vector_window_along_channels(std::int64_t in_bytes, std::int64_t out_bytes) {
  return in_bytes >= out_bytes;
}

/// Where pack `pack` of sample `sample` lies in a tile of rows of `packs` packs, in packs; `vector`: the
/// samples of one 16-byte load along time, 1 along channels. A row's packs change places from one vector of
/// samples to the next, so that lanes that store one pack column of neighbouring samples hit different banks,
/// as do lanes that read a row. packs is a power of two.
constexpr int vector_window_slot(int sample, int pack, int packs, int vector) {
  return sample * packs + (pack ^ (sample / vector & (packs - 1)));
}

}  // namespace relayout
