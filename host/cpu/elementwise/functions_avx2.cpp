// The vector functions for processors with AVX2 and FMA.
#include "host/cpu/elementwise/vectors_avx2.hpp"

#if defined(RELAYOUT_X86)
#include "host/cpu/elementwise/function_rows.hpp"
#endif
