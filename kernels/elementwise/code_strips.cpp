// One operation on codes, or a conversion to or from them, on strips: wherever tensors lie.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/bounded_codes.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Tensors of an instance that lie apart: without zero points, all scales lie alike.
constexpr int places_of(int tensors) { return tensors == kZeroTensors ? kScaleTensors + 1 : tensors; }

/// Where a lane's elements lie, of as many tensors as an instance takes.
template <int kElements, int kCodeTensors, bool kJoined>
struct CodeStripPlace : StripPlace<kElements, places_of(kCodeTensors), kJoined> {
  static constexpr int kTensors = kCodeTensors;
  using Load = StripLoad<kElements, false>;
  using StripPlace<kElements, places_of(kCodeTensors), kJoined>::StripPlace;

  __device__ __forceinline__ std::int32_t offset(int tensor) const {
    constexpr int kLast = places_of(kCodeTensors) - 1;
    return this->tensors[tensor < kLast ? tensor : kLast];
  }

  template <class Bits>
  __device__ __forceinline__ Bits first(const ElementwiseParams& p, int tensor) const {
    return static_cast<const Bits*>(p.tensor[tensor].data)[offset(tensor)];
  }
  template <class Bits>
  __device__ __forceinline__ void elements(const ElementwiseParams& p, int tensor,
                                           std::uint32_t (&elements)[kElements]) const {
    load_numbers<Bits, kJoined>(p, tensor, offset(tensor), jump_of(p.tensor[tensor].strides), this->strip,
                                elements);
  }
  /// Starts the load of codes that are all of an operand.
  __device__ __forceinline__ void start(const ElementwiseParams& p, int operand, Load& load) const {
    const auto step = static_cast<std::int32_t>(p.tensor[operand].strides[0]);
    const std::int32_t jump = jump_of(p.tensor[operand].strides), offset = this->offset(operand);
    const auto* const data = static_cast<const std::uint8_t*>(p.tensor[operand].data) + offset;
    if (step == 0 && jump == 0) return load.start_repeated(data);
    if (step == 1 && jump == 0 &&
        load.start_vectors(data, neighbours(p, operand, offset, this->strip.first), this->strip.is_whole()))
      return;
    load.template start_elements<kJoined>(data, step, jump, this->strip);
  }
  template <class Bits>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Bits (&elements)[kElements]) const {
    const auto step = static_cast<std::int32_t>(p.out_strides[0]);
    this->strip.template each<kJoined>(static_cast<Bits*>(p.out) + this->out, step, jump_of(p.out_strides),
                                       [&](int i, Bits& element) { element = elements[i]; });
  }

 private:
  static __device__ __forceinline__ std::int32_t jump_of(const std::int64_t* strides) {
    return kJoined ? static_cast<std::int32_t>(strides[kJumpAxis]) : 0;
  }
};

/// kEach: the strip's codes have scales of their own. kBounded: p.bounded_codes. kJoined: strips lie along
/// two axes; others pay for that with 1.02 of the time, and with 1.04 where only the launch knows the types.
template <int kTensors, bool kEach, bool kBounded, int kElements, bool kJoined = false>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, 4) void code_strips_kernel(const ElementwiseParams p) {
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const CodeStripPlace<kElements, kTensors, kJoined> place(p, lane);
  if (!place.strip.is_there) return;
  if constexpr (kBounded) {
    make_bounded_codes<kElements>(p, place);
  } else {
    make_codes<kEach, kElements>(p, place);
  }
}

/// The launch where all codes of a strip share a scale, and no tensor has a number of kTensors or more. Short
/// strips lie along one axis.
template <int kTensors, bool kBounded>
void launch_shared(const LaunchContext& context, const ElementwiseParams& p) {
  const auto run = [&](auto kernel) { launch_strips(context, p, "quantized", kernel); };
  if (p.strips.count != kLongCodeStrip) return run(code_strips_kernel<kTensors, false, kBounded, kCodeStrip>);
  p.strip_axes[0].wraps() != 0 ? run(code_strips_kernel<kTensors, false, kBounded, kLongCodeStrip, true>)
                               : run(code_strips_kernel<kTensors, false, kBounded, kLongCodeStrip>);
}
template <int kTensors>
void launch_shared(const LaunchContext& context, const ElementwiseParams& p) {
  p.bounded_codes ? launch_shared<kTensors, true>(context, p) : launch_shared<kTensors, false>(context, p);
}

}  // namespace

void launch_code_strips(const LaunchContext& context, const ElementwiseParams& p) {
  const auto run = [&](auto kernel) { launch_strips(context, p, "quantized", kernel); };
  if (p.tensors > kZeroTensors)
    return p.own_scales ? run(code_strips_kernel<kMaxTensors, true, false, kCodeStrip>)
                        : run(code_strips_kernel<kMaxTensors, false, false, kCodeStrip>);
  if (p.own_scales) return run(code_strips_kernel<kZeroTensors, true, false, kCodeStrip>);
  p.tensors > kScaleTensors ? launch_shared<kZeroTensors>(context, p)
                            : launch_shared<kScaleTensors>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
