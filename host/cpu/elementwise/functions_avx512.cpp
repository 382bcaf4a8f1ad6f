// The vector functions for processors with AVX-512.
// GCC 12 takes the unused operands of its own intrinsics for numbers without a value (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "host/cpu/elementwise/vectors_avx512.hpp"

#if defined(RELAYOUT_X86)
#include "host/cpu/elementwise/function_rows.hpp"
#endif
