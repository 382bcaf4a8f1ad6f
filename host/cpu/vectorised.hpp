// Loops that the compiler vectorises: for the processor that the program was built for, for one with AVX2,
// and where it gains much for one with AVX-512. Which of them runs is chosen at run time.
#pragma once

#include "host/cpu/processor.hpp"

namespace relayout::native {

#if defined(RELAYOUT_X86)

template <auto kLoop>
struct WithAvx2;

/// Flattened: the loop is compiled for AVX2 together with everything that it calls.
template <class... Arguments, void (*kLoop)(Arguments...)>
struct WithAvx2<kLoop> {
  __attribute__((target("avx2"), flatten)) static void run(Arguments... arguments) { kLoop(arguments...); }
};

template <auto kLoop>
struct WithAvx512;

// Vectors of 32 bytes: longer ones make many processors slower for a while, and conversions are bound by
// memory.
#if defined(__clang__)
#define RELAYOUT_AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define RELAYOUT_AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=256"
#endif
template <class... Arguments, void (*kLoop)(Arguments...)>
struct WithAvx512<kLoop> {
  __attribute__((target(RELAYOUT_AVX512_TARGET), flatten)) static void run(Arguments... arguments) {
    kLoop(arguments...);
  }
};
#undef RELAYOUT_AVX512_TARGET

template <auto kLoop>
auto vectorised() {
  return has_avx2() ? &WithAvx2<kLoop>::run : kLoop;
}

/// For conversions: AVX-512 has those of 64-bit integers and those to shorter elements, which AVX2 lacks.
template <auto kLoop>
auto vectorised_conversion() {
  return has_avx512() ? &WithAvx512<kLoop>::run : vectorised<kLoop>();
}

#else

template <auto kLoop>
auto vectorised() {
  return kLoop;
}

template <auto kLoop>
auto vectorised_conversion() {
  return kLoop;
}

#endif

}  // namespace relayout::native
