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

  // A branch for each size, and no visitor: where clang did not inline one, it copied all parameters to the
  // stack.
  template <int kWidth>
  __device__ __forceinline__ Words load(const ElementwiseParams& p, int number) const {
    const int bytes = p.tensor[number].bytes;
    if constexpr (kWidth <= 2) {
      if (bytes == 8) return load_of<std::uint64_t>(p, number);
    }
    if (bytes == 4) return load_of<std::uint32_t>(p, number);
    if (bytes == 2) return load_of<std::uint16_t>(p, number);
    return load_of<std::uint8_t>(p, number);
  }

  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words& words) const {
    if constexpr (kElements <= 2) {
      if (p.out_bytes == 8) return store_of<std::uint64_t>(p, words);
    }
    if (p.out_bytes == 4) return store_of<std::uint32_t>(p, words);
    if (p.out_bytes == 2) return store_of<std::uint16_t>(p, words);
    store_of<std::uint8_t>(p, words);
  }

 private:
  template <class Bits>
  __device__ __forceinline__ Words load_of(const ElementwiseParams& p, int number) const {
    if (p.tensor[number].strides[0] == 0)
      return repeated_words(*this->template data<Bits>(p, number), sizeof(Bits));
    std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t> elements[kElements] = {};
    AnyStripPlace<kElements>::template load<Bits>(p, number, elements);
    Words words{};
#pragma unroll
    for (int i = 0; i < kElements; ++i) put_element(words, i, static_cast<Bits>(elements[i]));
    return words;
  }

  template <class Bits>
  __device__ __forceinline__ void store_of(const ElementwiseParams& p, const Words& words) const {
    const auto step = static_cast<std::int32_t>(p.out_strides[0]);
    Bits* const data = this->template out<Bits>(p);
    this->strip.each(data, step, 0, [&](int i, Bits& element) { element = element_of<Bits>(words, i); });
  }
};

/// Blocks of a multiprocessor for which there are registers enough.
template <class C, Steps kSteps>
constexpr int kProgramStripBlocks = kSteps == Steps::costly && sizeof(C) == 8 ? 2 : 4;

template <class C, int kElements, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kStripThreads, (kProgramStripBlocks<C, kSteps>)) void program_strips_kernel(
    const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(std::int32_t, offsets);
  const std::uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= p.lanes) return;
  const ProgramStripPlace<kElements> place(p, lane, offsets);
  if (place.strip.is_there) place.store(p, (run_program<C, kElements, kSteps>(p, place)));
}

template <Steps kSteps>
void launch_program_strips_of(const LaunchContext& context, const ElementwiseParams& p) {
  visit_program_numbers(p, [&](auto number, auto elements) {
    launch_strips(context, p, program_name(p),
                  program_strips_kernel<decltype(number), decltype(elements)::value, kSteps>,
                  strip_offsets_bytes(p));
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
