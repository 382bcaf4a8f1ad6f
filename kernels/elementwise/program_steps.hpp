// A program's steps on a lane's elements: up to 8 operations on up to 8 tensors of any types, or on codes
// with their scales and zero points, with numbers or codes as results. What a step needs is loaded when the
// step comes, so that more tensors take no more registers; each is read once, and so are scales and zero
// points. Every step is rounded once.
//
// A Place says where the lane's elements lie: load<kWidth>(p, tensor) gives a tensor's, packed as in a
// vector.
#pragma once

#include <type_traits>

#include "kernels/elementwise/code_numbers.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class C, int kCount>
__device__ __forceinline__ void exchange(C (&a)[kCount], C (&b)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const C kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

/// a, b and c are the running value and the other operands, in their order. They become the operands in the
/// operation's order.
template <class V>
__device__ __forceinline__ void put_running(int running, V& a, V& b, V& c) {
  if (running == 0) return;
  exchange(a, b);
  if (running == 2) exchange(b, c);
}

/// Load the scales and zero points of codes.
template <class Place, int kWidth>
__device__ __forceinline__ void load_scales(const ElementwiseParams& p, const CodeNumbers& codes,
                                            const Place& place, float (&scales)[kWidth]) {
#pragma unroll
  for (float& scale : scales) scale = codes.scale;
  if (codes.scale_tensor < 0) return;
  const Words words = place.template load<kWidth>(p, codes.scale_tensor);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) scales[i] = __uint_as_float(words.values[i]);
}
template <class Place, int kWidth>
__device__ __forceinline__ void load_zeros(const ElementwiseParams& p, const CodeNumbers& codes,
                                           const Place& place, std::int32_t (&zeros)[kWidth]) {
#pragma unroll
  for (std::int32_t& zero : zeros) zero = codes.zero;
  if (codes.zero_tensor < 0) return;
  const Words words = place.template load<kWidth>(p, codes.zero_tensor);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) zeros[i] = code_of(element_of<std::uint8_t>(words, i), codes.is_signed);
}

template <class Place, int kWidth>
__device__ __forceinline__ void read_codes(const ElementwiseParams& p, const CodeNumbers& codes,
                                           const Words& words, const Place& place, float (&numbers)[kWidth]) {
  float scales[kWidth];
  std::int32_t zeros[kWidth];
  load_scales(p, codes, place, scales);
  load_zeros(p, codes, place, zeros);
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    numbers[i] =
        number_of_code(code_of(element_of<std::uint8_t>(words, i), codes.is_signed), zeros[i], scales[i]);
}

template <class Place, int kWidth>
__device__ __forceinline__ Words write_codes(const ElementwiseParams& p, const Place& place,
                                             const float (&numbers)[kWidth]) {
  float scales[kWidth];
  std::int32_t zeros[kWidth];
  load_scales(p, p.out_codes, place, scales);
  load_zeros(p, p.out_codes, place, zeros);
  Words words{};
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    put_element(
        words, i,
        static_cast<std::uint8_t>(code_of_number(numbers[i], zeros[i], scales[i], p.out_codes.is_signed)));
  return words;
}

template <class C, class Place, int kWidth>
__device__ __forceinline__ void load_argument(const ElementwiseParams& p, const Argument& argument,
                                              const Place& place, C (&numbers)[kWidth]) {
  const C constant = argument.tensor < 0 ? constant_of<C>(argument.bits()) : C{0};
#pragma unroll
  for (C& number : numbers) number = constant;
  if (argument.tensor < 0) return;
  const TensorOperand& tensor = p.tensor[argument.tensor];
  const Vectors<1> vectors = {place.template load<kWidth>(p, argument.tensor)};
  if constexpr (std::is_same_v<C, float>) {
    if (tensor.reading == Reading::codes)
      return read_codes(p, p.codes[argument.tensor], vectors[0], place, numbers);
  }
  read_numbers<kWidth>(p, tensor, vectors, numbers);
}

template <class C, class Place, int kWidth>
__device__ __forceinline__ Words result_words(const ElementwiseParams& p, const Place& place,
                                              const C (&numbers)[kWidth]) {
  if constexpr (std::is_same_v<C, float>) {
    if (p.out_coded) return write_codes(p, place, numbers);
  }
  Vectors<1> vectors = {};
  if (!p.convert) {
    write_numbers<kWidth>(p.out_type, p.out_bytes, numbers, vectors);
    return vectors[0];
  }
  write_numbers<kWidth>(p.result, p.result_bytes, numbers, vectors);
  return convert_words<kWidth>(p, vectors[0]);
}

/// Makes the output's elements: the last step's results, or the one argument where there is no step.
template <class C, int kWidth, Steps kSteps, class Place>
__device__ __forceinline__ Words run_program(const ElementwiseParams& p, const Place& place) {
  C a[kWidth], b[kWidth] = {}, c[kWidth] = {};
  load_argument(p, p.argument[0], place, a);
  flush(p, a);
  int next = 1;
#pragma unroll 1
  for (int s = 0; s < p.steps; ++s) {
    const ProgramStep& step = p.step[s];
    if (step.operands >= 2) {
      load_argument(p, p.argument[next++], place, b);
      flush(p, b);
    }
    if (step.operands == 3) load_argument(p, p.argument[next++], place, c);
    put_running(step.running, a, b, c);
    apply<kSteps>(p, step.operation, a, b, c);
    flush(p, a);
    if (s + 1 < p.steps) narrow(p, a);
  }
  return result_words(p, place, a);
}

/// What a launch is called in errors.
inline const char* program_name(const ElementwiseParams& p) {
  return p.steps > 0 ? name_of(p.step[p.steps - 1].operation) : "quantize";
}

/// Calls visit(a number of the type that is computed in, std::integral_constant of a lane's elements).
template <class Visit>
void visit_program_numbers(const ElementwiseParams& p, const Visit& visit) {
  using Two = std::integral_constant<int, 2>;
  using Four = std::integral_constant<int, 4>;
  switch (p.compute) {
    case ComputeClass::f32:
      return p.width == 4 ? visit(float{}, Four{}) : visit(float{}, Two{});
    case ComputeClass::i32:
      return p.width == 4 ? visit(std::int32_t{}, Four{}) : visit(std::int32_t{}, Two{});
    case ComputeClass::i64:
      return visit(std::int64_t{}, Two{});
    case ComputeClass::f64:
      return visit(double{}, Two{});
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
