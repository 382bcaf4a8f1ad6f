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

/// Bytes of the rows and lines of the smallest square that is transposed in registers.
constexpr std::int64_t kSquareBytes = 16;

/// Lines anywhere in memory: line r begins at data + offsets[r], in elements.
struct GatheredLines {
  const char* data;
  const std::int64_t* offsets;
};

/// out[i][j] = in[j][i] for i < rows, j < columns: elements of one size, contiguous along each line.
using TransposeBlock = void (*)(ConstLines in, Lines out, std::int64_t rows, std::int64_t columns);
using TransposeGathered = void (*)(GatheredLines in, Lines out, std::int64_t rows, std::int64_t columns);

/// The fastest function that this processor has for elements of 1, 2, 4, 8 or 16 bytes.
TransposeBlock transpose_block(std::int64_t element_bytes) noexcept;
TransposeGathered transpose_gathered(std::int64_t element_bytes) noexcept;
/// The same from f32 to f16, rounded on the way; null where the processor has no instruction for it.
TransposeBlock transpose_block_to_f16() noexcept;

}  // namespace relayout::native
