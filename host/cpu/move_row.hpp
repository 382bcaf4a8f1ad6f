// Long rows that are moved as they are.
#pragma once

#include <cstdint>
#include <cstring>

#include "host/cpu/processor.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {

#if defined(RELAYOUT_X86)
/// Moves 128 bytes at a time, `bytes` a multiple of them, to lines.
__attribute__((target("avx"))) inline void move_lines_avx(char* out, const char* in,
                                                          std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += 128) {
    __m256i words[4];
    for (int i = 0; i < 4; ++i)
      words[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at + 32 * i));
    for (int i = 0; i < 4; ++i) _mm256_store_si256(reinterpret_cast<__m256i*>(out + at + 32 * i), words[i]);
  }
  _mm256_zeroupper();
}
#endif

/// out[0, bytes) = in[0, bytes), which do not overlap. A long row is stored by the lines of `out`. The C
/// library moves it by one instruction (rep movsb), which takes longer where `out` does not begin with a
/// line, and 5 to 14 times as long where that lies a few bytes behind `in` within a page.
inline void move_row(void* out, const void* in, std::int64_t bytes) noexcept {
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(in);
#if defined(RELAYOUT_X86)
  constexpr std::int64_t kLongRow = 1024;
  const std::int64_t head = bytes_to_line(to);
  if (head != 0 && bytes >= kLongRow && has_avx2()) {
    std::memcpy(to, from, static_cast<std::size_t>(head));
    const std::int64_t lines = (bytes - head) / 128 * 128;
    move_lines_avx(to + head, from + head, lines);
    to += head + lines;
    from += head + lines;
    bytes -= head + lines;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace relayout::native
