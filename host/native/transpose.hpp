// A small block transposed in the first-level cache, converted on the way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/native/convert.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace relayout::native {

#if defined(__SSE2__)

/// 8 x 8 elements of 2 bytes: out row i = in column i.
inline void transpose_square(const void* const (&in)[8], void* const (&out)[8]) noexcept {
  __m128i a[8], b[8];
  for (std::size_t i = 0; i < 8; ++i) a[i] = _mm_loadu_si128(static_cast<const __m128i*>(in[i]));
  for (std::size_t i = 0; i < 4; ++i) {
    b[2 * i] = _mm_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    a[4 * i + 0] = _mm_unpacklo_epi32(b[4 * i + 0], b[4 * i + 2]);
    a[4 * i + 1] = _mm_unpackhi_epi32(b[4 * i + 0], b[4 * i + 2]);
    a[4 * i + 2] = _mm_unpacklo_epi32(b[4 * i + 1], b[4 * i + 3]);
    a[4 * i + 3] = _mm_unpackhi_epi32(b[4 * i + 1], b[4 * i + 3]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    _mm_storeu_si128(static_cast<__m128i*>(out[2 * i]), _mm_unpacklo_epi64(a[i], a[i + 4]));
    _mm_storeu_si128(static_cast<__m128i*>(out[2 * i + 1]), _mm_unpackhi_epi64(a[i], a[i + 4]));
  }
}

/// 4 x 4 elements of 4 bytes.
inline void transpose_square(const void* const (&in)[4], void* const (&out)[4]) noexcept {
  __m128i a[4], b[4];
  for (std::size_t i = 0; i < 4; ++i) a[i] = _mm_loadu_si128(static_cast<const __m128i*>(in[i]));
  b[0] = _mm_unpacklo_epi32(a[0], a[1]);
  b[1] = _mm_unpackhi_epi32(a[0], a[1]);
  b[2] = _mm_unpacklo_epi32(a[2], a[3]);
  b[3] = _mm_unpackhi_epi32(a[2], a[3]);
  for (std::size_t i = 0; i < 2; ++i) {
    _mm_storeu_si128(static_cast<__m128i*>(out[2 * i]), _mm_unpacklo_epi64(b[i], b[i + 2]));
    _mm_storeu_si128(static_cast<__m128i*>(out[2 * i + 1]), _mm_unpackhi_epi64(b[i], b[i + 2]));
  }
}

#endif

/// out[i * out_pitch + j] = in[j * in_pitch + i] for i < rows, j < columns.
template <class T>
void transpose_block(const T* in, std::int64_t in_pitch, T* out, std::int64_t out_pitch, std::int64_t rows,
                     std::int64_t columns) noexcept {
  std::int64_t squared_rows = 0, squared_columns = 0;  // what the squares have covered
#if defined(__SSE2__)
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    constexpr std::int64_t kSide = 16 / sizeof(T);
    squared_rows = rows / kSide * kSide;
    squared_columns = columns / kSide * kSide;
    for (std::int64_t i = 0; i < squared_rows; i += kSide) {
      for (std::int64_t j = 0; j < squared_columns; j += kSide) {
        const void* from[kSide];
        void* to[kSide];
        for (std::int64_t s = 0; s < kSide; ++s) {
          from[s] = in + (j + s) * in_pitch + i;
          to[s] = out + (i + s) * out_pitch + j;
        }
        transpose_square(from, to);
      }
    }
  }
#endif
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t first = i < squared_rows ? squared_columns : 0;
    for (std::int64_t j = first; j < columns; ++j) out[i * out_pitch + j] = in[j * in_pitch + i];
  }
}

/// Sides of the largest block: in and out then lie in the first-level cache together.
template <class Out>
constexpr std::int64_t kBlock = sizeof(Out) == 8 ? 32 : 64;

/// A matrix with element (i, j) at i * row + j * column.
struct Strides2d {
  std::int64_t row, column;
};

/// out(i, j) = in(i, j) for i < rows, j < columns, both at most kBlock<Out>; rows is the axis along which
/// `in` is fastest, columns the one along which `out` is. The lines' pitch is off the power of two that would
/// put a column into one cache set.
template <class In, class Out>
void convert_transposed(const In* in, Strides2d in_strides, Out* out, Strides2d out_strides,
                        std::int64_t rows, std::int64_t columns) noexcept {
  constexpr std::int64_t kPitch = kBlock<Out> + 16 / static_cast<std::int64_t>(sizeof(Out));
  Out lines[kBlock<Out> * kPitch];
  for (std::int64_t j = 0; j < columns; ++j) {
    convert_strided(in + j * in_strides.column, in_strides.row, lines + j * kPitch, 1, rows);
  }
  if (out_strides.column == 1) return transpose_block(lines, kPitch, out, out_strides.row, rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out[i * out_strides.row + j * out_strides.column] = lines[j * kPitch + i];
    }
  }
}

}  // namespace relayout::native
