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
                                           std::uint32_t (&elements)[kElements]) const {
    this->template load<Bits>(p, tensor, elements);
  }
  template <class Bits>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Bits (&elements)[kElements]) const {
    const auto step = static_cast<std::int32_t>(p.out_strides[p.rank - 1]);
    Bits* const data = this->template out<Bits>(p);
    this->strip.each(data, step, [&](int i, Bits& element) { element = elements[i]; });
  }
};

/// kEach: the strip's codes have scales of their own.
template <bool kEach, int kElements>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, 4) void code_strips_kernel(const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(std::int32_t, offsets);
  const std::uint32_t lane = static_cast<std::uint32_t>(blockIdx.x) * kStripThreads + threadIdx.x;
  if (lane >= p.lanes) return;
  const CodeStripPlace<kElements> place(p, lane, offsets);
  if (place.strip.is_there) make_codes<kEach, kElements>(p, place);
}

}  // namespace

void launch_code_strips(const LaunchContext& context, const ElementwiseParams& p) {
  const auto run = [&](auto kernel) {
    launch_strips(context, p, "quantized", kernel, strip_offsets_bytes(p));
  };
  if (p.own_scales) return run(code_strips_kernel<true, kCodeStrip>);
  if (p.strips.count == kCodeStrip) return run(code_strips_kernel<false, kCodeStrip>);
  run(code_strips_kernel<false, kLongCodeStrip>);
}

}  // namespace relayout::RELAYOUT_BACKEND
