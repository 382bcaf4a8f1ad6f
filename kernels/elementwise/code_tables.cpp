// One operation on codes, or a conversion to or from them, on elements that lie where offset tables say.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/code_elements.hpp"
#include "kernels/elementwise/offset_tables.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Rows of a lane: fewer where each code has a scale of its own, which takes registers.
template <bool kEach>
constexpr int kRowsOf = kEach ? kCodeTableRows / 2 : kCodeTableRows;

/// Where a lane's elements lie: a position in a few rows.
template <int kRows>
struct CodeTablePlace {
  const TablePlace& place;

  template <class Bits>
  __device__ __forceinline__ Bits first(const ElementwiseParams& p, int tensor) const {
    return place.first<Bits>(p, tensor);
  }
  template <class Bits>
  __device__ __forceinline__ void elements(const ElementwiseParams& p, int tensor,
                                           Bits (&elements)[kRows]) const {
    constexpr int kPart = sizeof(Bits) == 4 ? 4 : kRows;  // 16 bytes at most
#pragma unroll
    for (int r = 0; r < kRows; r += kPart) {
      const Words words = place.part(r).template load<Bits, kPart>(p, tensor);
#pragma unroll
      for (int i = 0; i < kPart; ++i) elements[r + i] = element_of<Bits>(words, i);
    }
  }
  template <class Bits>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Bits (&elements)[kRows]) const {
    place.store(p, elements);
  }
};

/// With kEach, a position's codes have scales of their own in each row.
template <bool kEach>
__global__ RELAYOUT_LAUNCH_BOUNDS(kElementwiseThreads, 4) void code_tables_kernel(const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(Words, memory);
  visit_block<kRowsOf<kEach>>(p, reinterpret_cast<std::uint32_t*>(memory), [&](const TablePlace& place) {
    make_codes<kEach, kRowsOf<kEach>>(p, CodeTablePlace<kRowsOf<kEach>>{place});
  });
}

}  // namespace

void launch_code_tables(const LaunchContext& context, const ElementwiseParams& p) {
  launch("quantized", context, table_shape(p),
         p.own_scales ? code_tables_kernel<true> : code_tables_kernel<false>, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
