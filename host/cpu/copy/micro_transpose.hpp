// Transposes blocks of elements between two places in the first-level cache. Only bytes are moved, so only
// the size of an element matters.
#pragma once

#include <cstdint>

namespace relayout::native {

/// A matrix in memory: row r begins at data + r * pitch, in bytes.
struct Lines {
  char* data;
  std::int64_t pitch;
};
struct ConstLines {
  const char* data;
  std::int64_t pitch;
};

/// out[i][j] = in[j][i] for i < rows, j < columns: elements of one size, contiguous along each line.
using TransposeBlock = void (*)(ConstLines in, Lines out, std::int64_t rows, std::int64_t columns);

/// The fastest function that this processor has for elements of 1, 2, 4, 8 or 16 bytes.
TransposeBlock transpose_block(std::int64_t element_bytes) noexcept;
/// The same from f32 to f16, rounded on the way; null where the processor has no instruction for it.
TransposeBlock transpose_block_to_f16() noexcept;

}  // namespace relayout::native
