// Loops that the compiler vectorises: once for the processor that the program was built for, and once for one
// with AVX2, which is chosen at run time.
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
auto vectorised() {
  return has_avx2() ? &WithAvx2<kLoop>::run : kLoop;
}

#else

template <auto kLoop>
auto vectorised() {
  return kLoop;
}

#endif

}  // namespace relayout::native
