// Rows of bytes that are stored by the lines of memory. Outputs that are too large to stay in a cache go past
// the caches, so that memory need not be read before it is overwritten.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "host/cpu/processor.hpp"

namespace relayout::native {

/// Outputs with more bytes than this are streamed.
constexpr std::int64_t kStreamedBytes = std::int64_t{16} << 20;
constexpr std::int64_t kLineBytes = 64;

/// How many bytes there are up to the next line.
inline std::int64_t bytes_to_line(const void* pointer) noexcept {
  return static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(pointer) % kLineBytes);
}

#if defined(RELAYOUT_X86)
/// Copies whole lines; `out` begins one. Stores half a line at a time: 16 bytes at a time take the processor
/// up to a third longer.
template <bool kPastCaches>
__attribute__((target("avx"))) inline void copy_lines_avx(char* out, const char* in,
                                                          std::int64_t bytes) noexcept {
#pragma GCC unroll 4
  for (std::int64_t at = 0; at < bytes; at += 32) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at));
    auto* const to = reinterpret_cast<__m256i*>(out + at);
    if constexpr (kPastCaches) {
      _mm256_stream_si256(to, half);
    } else {
      _mm256_store_si256(to, half);
    }
  }
  _mm256_zeroupper();
}
#endif

/// The same, past the caches.
inline void stream_lines(char* out, const char* in, std::int64_t bytes) noexcept {
#if defined(RELAYOUT_X86)
  if (has_avx2()) return copy_lines_avx<true>(out, in, bytes);
  for (std::int64_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at)));
#else
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
#endif
}

/// Copies `bytes` bytes: whole lines by copy_lines(to, from, bytes), the ends as usual.
template <class CopyLines>
void copy_by_lines(void* out, const void* in, std::int64_t bytes, const CopyLines& copy_lines) noexcept {
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(in);
  if (const std::int64_t head = std::min(bytes, bytes_to_line(to)); head != 0) {
    std::memcpy(to, from, static_cast<std::size_t>(head));
    to += head;
    from += head;
    bytes -= head;
  }
  const std::int64_t lines = bytes / kLineBytes * kLineBytes;
  copy_lines(to, from, lines);
  if (lines != bytes) std::memcpy(to + lines, from + lines, static_cast<std::size_t>(bytes - lines));
}

/// The same, lines past the caches.
inline void stream_row(void* out, const void* in, std::int64_t bytes) noexcept {
  copy_by_lines(out, in, bytes, stream_lines);
}

/// out[0, bytes) = in[0, bytes), which do not overlap. A long row is stored by the lines of `out`. The C
/// library moves it by one instruction (rep movsb), which takes longer where `out` does not begin with a
/// line, and 5 to 14 times as long where that lies a few bytes behind `in` within a page.
inline void move_row(void* out, const void* in, std::int64_t bytes) noexcept {
#if defined(RELAYOUT_X86)
  constexpr std::int64_t kLongRow = 1024;
  if (bytes >= kLongRow && bytes_to_line(out) != 0 && has_avx2())
    return copy_by_lines(out, in, bytes, copy_lines_avx<false>);
#endif
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

/// Call it before another thread may read the streamed data.
inline void finish_streams() noexcept {
#if defined(RELAYOUT_X86)
  _mm_sfence();
#endif
}

}  // namespace relayout::native
