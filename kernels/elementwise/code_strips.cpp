// One operation on codes, or a conversion to or from them, on strips: wherever tensors lie.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/code_elements.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Where a lane's elements lie.
template <int kElements>
struct CodeStripPlace : AnyStripPlace<kElements> {
  using AnyStripPlace<kElements>::AnyStripPlace;

  template <class Bits>
  __device__ __forceinline__ Bits first(const ElementwiseParams& p, int tensor) const {
    return *this->template data<Bits>(p, tensor);
  }
  template <class Bits>
  __device__ __forceinline__ void elements(const ElementwiseParams& p, int tensor,
                                           Bits (&elements)[kElements]) const {
    this->load(p, tensor, elements);
  }
  template <class Bits>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Bits (&elements)[kElements]) const {
    const auto step = static_cast<std::int32_t>(p.out_strides[p.rank - 1]);
    Bits* const data = this->template out<Bits>(p);
    this->strip.each(p, [&](int i, bool exists) {
      if (exists) data[i * step] = elements[i];
    });
  }
};

/// kEach: the strip's codes have scales of their own.
template <bool kEach>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, 4) void code_strips_kernel(const ElementwiseParams p) {
  constexpr int kElements = kEach ? kCodeStripElements / 2 : kCodeStripElements;
  RELAYOUT_DYNAMIC_SHARED(std::int32_t, offsets);
  const std::uint32_t lane = static_cast<std::uint32_t>(blockIdx.x) * kStripThreads + threadIdx.x;
  if (lane >= p.lanes) return;
  const CodeStripPlace<kElements> place(p, lane, offsets);
  if (place.strip.is_there) make_codes<kEach, kElements>(p, place);
}

}  // namespace

void launch_code_strips(const LaunchContext& context, const ElementwiseParams& p) {
  launch_strips(context, p, "quantized", p.own_scales ? code_strips_kernel<true> : code_strips_kernel<false>,
                strip_offsets_bytes(p));
}

}  // namespace relayout::RELAYOUT_BACKEND
