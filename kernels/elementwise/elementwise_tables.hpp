// The element-wise kernel for any program on tensors that lie in no vectors: rows from any address, strided,
// across the output's, shorter than a vector. An element lies where offset tables say.
#pragma once

#include "kernels/elementwise/offset_tables.hpp"
#include "kernels/elementwise/program_steps.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The Place (program_steps.hpp) of a program's elements.
struct ProgramTablePlace {
  const TablePlace& place;

  template <int kRows>
  __device__ __forceinline__ Words load(const ElementwiseParams& p, int number) const {
    Words words{};
    visit_fitting_sizes<kRows>(p.tensor[number].bytes, [&](auto tag) {
      words = place.template load<typename decltype(tag)::type, kRows>(p, number);
    });
    return words;
  }

  template <int kRows>
  __device__ __forceinline__ void store(const ElementwiseParams& p, const Words& words) const {
    visit_fitting_sizes<kRows>(
        p.out_bytes, [&](auto tag) { place.template store<typename decltype(tag)::type, kRows>(p, words); });
  }
};

/// Blocks of a multiprocessor for which there are registers enough. More blocks pay more than more elements a
/// lane: a second position for each lane, which leaves registers for three blocks, took 1.2 times as long on
/// an H200.
template <class C, Steps kSteps>
constexpr int kProgramTableBlocks = kSteps == Steps::cheap ? 5
                                    : sizeof(C) == 8       ? 2
                                                           : 4;

template <class C, int kRows, Steps kSteps>
__global__ RELAYOUT_LAUNCH_BOUNDS(
    kElementwiseThreads,
    (kProgramTableBlocks<C, kSteps>)) void tables_program_kernel(const ElementwiseParams p) {
  RELAYOUT_DYNAMIC_SHARED(Words, memory);
  visit_block<kRows>(p, reinterpret_cast<std::uint32_t*>(memory), [&](const TablePlace& at) {
    const ProgramTablePlace place{at};
    place.template store<kRows>(p, run_program<C, kRows, kSteps>(p, place));
  });
}

template <class C, int kRows, Steps kSteps>
void launch_tables_on(const LaunchContext& context, const ElementwiseParams& p) {
  const char* const name = p.steps > 0 ? name_of(p.step[p.steps - 1].operation) : "quantize";
  launch(name, context, table_shape(p), tables_program_kernel<C, kRows, kSteps>, p);
}

template <Steps kSteps>
void launch_tables_of(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::f32:
      if (p.width == 4) return launch_tables_on<float, 4, kSteps>(context, p);
      return launch_tables_on<float, 2, kSteps>(context, p);
    case ComputeClass::i32:
      if (p.width == 4) return launch_tables_on<std::int32_t, 4, kSteps>(context, p);
      return launch_tables_on<std::int32_t, 2, kSteps>(context, p);
    case ComputeClass::i64:
      return launch_tables_on<std::int64_t, 2, kSteps>(context, p);
    case ComputeClass::f64:
      return launch_tables_on<double, 2, kSteps>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
