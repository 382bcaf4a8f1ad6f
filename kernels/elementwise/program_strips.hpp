// The element-wise kernel for any program on tensors that lie in no vectors: rows from any address, strided,
// across the output's, shorter than a vector. A lane makes a strip.
#pragma once

#include "kernels/elementwise/program_steps.hpp"
#include "kernels/elementwise/strips.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The Place (program_steps.hpp) of a program's elements.
template <int kElements>
struct ProgramStripPlace : AnyStripPlace<kElements> {
  using AnyStripPlace<kElements>::AnyStripPlace;

  template <int kWidth>
  __device__ __forceinline__ Words load(const ElementwiseParams& p, int number) const {
    const TensorOperand& tensor = p.tensor[number];
    const auto step = static_cast<std::int32_t>(tensor.strides[p.rank - 1]);
    Words words{};
    visit_fitting_sizes<kWidth>(tensor.bytes, [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      if (step == 0) {
        words = repeated_words(*this->template data<Bits>(p, number), sizeof(Bits));
        return;
      }
      Bits elements[kWidth];
      AnyStripPlace<kElements>::load(p, number, elements);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) put_element(words, i, elements[i]);
    });
    return words;
  }

  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words& words) const {
    const auto step = static_cast<std::int32_t>(p.out_strides[p.rank - 1]);
    visit_fitting_sizes<kElements>(p.out_bytes, [&](auto tag) {
      using Bits = typename decltype(tag)::type;
      Bits* const data = this->template out<Bits>(p);
      this->strip.each(p, [&](int i, bool exists) {
        if (exists) data[i * step] = element_of<Bits>(words, i);
      });
    });
  }
};

/// Blocks of a multiprocessor for which there are registers enough.
template <class C, Steps kSteps>
constexpr int kProgramStripBlocks = kSteps == Steps::cheap ? 5
                                    : sizeof(C) == 8       ? 2
                                                           : 4;

template <class C, int kElements, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, (kProgramStripBlocks<C, kSteps>)) void program_strips_kernel(
    const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(std::int32_t, offsets);
  const std::uint32_t lane = static_cast<std::uint32_t>(blockIdx.x) * kStripThreads + threadIdx.x;
  if (lane >= p.lanes) return;
  const ProgramStripPlace<kElements> place(p, lane, offsets);
  if (place.strip.is_there) place.store(p, (run_program<C, kElements, kSteps>(p, place)));
}

template <class C, int kElements, Steps kSteps>
void launch_program_strips_on(const LaunchContext& context, const ElementwiseParams& p) {
  const char* const name = p.steps > 0 ? name_of(p.step[p.steps - 1].operation) : "quantize";
  launch_strips(context, p, name, program_strips_kernel<C, kElements, kSteps>, strip_offsets_bytes(p));
}

template <Steps kSteps>
void launch_program_strips_of(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::f32:
      if (p.width == 4) return launch_program_strips_on<float, 4, kSteps>(context, p);
      return launch_program_strips_on<float, 2, kSteps>(context, p);
    case ComputeClass::i32:
      if (p.width == 4) return launch_program_strips_on<std::int32_t, 4, kSteps>(context, p);
      return launch_program_strips_on<std::int32_t, 2, kSteps>(context, p);
    case ComputeClass::i64:
      return launch_program_strips_on<std::int64_t, 2, kSteps>(context, p);
    case ComputeClass::f64:
      return launch_program_strips_on<double, 2, kSteps>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
