// Stores that go past the caches. They are for outputs that are too large to stay in a cache, so that memory
// need not be read before it is overwritten.
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
/// Stores half a line at a time: 16 bytes at a time take the processor up to a third longer.
__attribute__((target("avx"))) inline void stream_lines_avx(char* out, const char* in,
                                                            std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at)));
  _mm256_zeroupper();
}
#endif

/// Copies whole lines; `out` begins one.
inline void stream_lines(char* out, const char* in, std::int64_t bytes) noexcept {
#if defined(RELAYOUT_X86)
  if (has_avx2()) return stream_lines_avx(out, in, bytes);
  for (std::int64_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at)));
#else
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
#endif
}

/// Copies `bytes` bytes: whole lines past the caches, the ends as usual.
inline void stream_row(void* out, const void* in, std::int64_t bytes) noexcept {
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(in);
  if (const std::int64_t head = std::min(bytes, bytes_to_line(to)); head != 0) {
    std::memcpy(to, from, static_cast<std::size_t>(head));
    to += head;
    from += head;
    bytes -= head;
  }
  const std::int64_t lines = bytes / kLineBytes * kLineBytes;
  stream_lines(to, from, lines);
  if (lines != bytes) std::memcpy(to + lines, from + lines, static_cast<std::size_t>(bytes - lines));
}

/// Call it before another thread may read the streamed data.
inline void finish_streams() noexcept {
#if defined(RELAYOUT_X86)
  _mm_sfence();
#endif
}

}  // namespace relayout::native
