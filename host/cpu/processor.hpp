// Which instructions this processor has beyond those that the compiler may assume.
#pragma once

/// A function that a loop for such instructions calls is inlined. Only inside the loop is it compiled for
/// them.
#define RELAYOUT_INLINE __attribute__((always_inline)) inline

#if defined(__x86_64__) && defined(__GNUC__)
#define RELAYOUT_X86 1
#include <cpuid.h>
#include <immintrin.h>

namespace relayout::native {

/// What the native code may use at most: all that the processor has, or what the environment's
/// RELAYOUT_CPU_INSTRUCTIONS names, which is "baseline" or "avx2". Read once.
enum class Instructions { baseline, avx2, avx512 };
Instructions usable_instructions() noexcept;

inline bool has_avx2() noexcept { return usable_instructions() >= Instructions::avx2; }

/// Whether AVX-512 may be used: its parts F, BW, DQ and VL, which all processors for servers with AVX-512
/// have.
inline bool has_avx512() noexcept { return usable_instructions() == Instructions::avx512; }

inline bool has_fma() noexcept { return has_avx2() && __builtin_cpu_supports("fma"); }

/// Whether it has F16C, together with AVX2. clang's __builtin_cpu_supports does not know f16c before version
/// 18.
inline bool has_f16c() noexcept {
  static const bool found = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return has_avx2() && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return found;
}

}  // namespace relayout::native
#endif
