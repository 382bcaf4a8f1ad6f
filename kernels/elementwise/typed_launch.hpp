// Launches the instances of the typed kernels: of types, of cheap and costly operations, and of where
// operands lie.
#pragma once

#include "kernels/elementwise/typed_chunks.hpp"
#include "kernels/elementwise/typed_flat.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class A, class B, class R, class C, OperandRows kRows, Steps kSteps = Steps::cheap>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  const char* const name = name_of(p.step[0].operation);
  if constexpr (kRows == OperandRows::strips) {
    launch_strips(context, p, name, typed_strips_kernel<A, B, R, C, kSteps>);
  } else if constexpr (kRows == OperandRows::flat) {
    launch_strips(context, p, name, typed_flat_kernel<A, B, R, C, kSteps>);
  } else if constexpr (kRows == OperandRows::chunks) {
    launch_chunks(context, p, typed_chunks_kernel<A, B, R, C, kSteps>);
  } else {
    using Typed = TypedElementwise<A, B, R, C, kRows>;
    launch_block_rows(name, context, p, Typed::kPerBlock, Typed::kThreads,
                      typed_kernel<A, B, R, C, kRows, kSteps>);
  }
}

/// Operands of one type: to the same, or by few instructions to bool as well.
template <class T, class C, OperandRows kRows, Steps kSteps>
void launch_typed_of(const LaunchContext& context, const ElementwiseParams& p) {
  if constexpr (kSteps == Steps::costly && is_real<C>) {
    if (p.step[0].operands == 1) return launch_typed_of<T, T, T, C, kRows, Steps::function>(context, p);
  }
  if constexpr (kSteps == Steps::cheap) {
    if (p.result == DType::bool_) return launch_typed_of<T, T, bool, C, kRows, kSteps>(context, p);
  }
  launch_typed_of<T, T, T, C, kRows, kSteps>(context, p);
}

/// f16 or bf16 with f32, in either order.
template <OperandRows kRows>
void launch_typed_pair(const LaunchContext& context, const ElementwiseParams& p) {
  const DType a = p.tensor[0].type, b = p.tensor[1].type;
  if (a == DType::f16) return launch_typed_of<f16, float, float, float, kRows>(context, p);
  if (a == DType::bf16) return launch_typed_of<bf16, float, float, float, kRows>(context, p);
  if (b == DType::f16) return launch_typed_of<float, f16, float, float, kRows>(context, p);
  launch_typed_of<float, bf16, float, float, kRows>(context, p);
}

/// Elements of 4 bytes and more. Operations of few instructions on unsigned integers share the instances of
/// signed ones: the operation knows. Flat outputs have no instances of 8 bytes.
template <OperandRows kRows, Steps kSteps>
void launch_typed_wide(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr bool kCheap = kSteps == Steps::cheap;
  using U32 = std::conditional_t<kCheap, std::int32_t, std::uint32_t>;
  using U64 = std::conditional_t<kCheap, std::int64_t, std::uint64_t>;
  const DType type = p.tensor[0].type;
  if (type == DType::u32) return launch_typed_of<U32, std::int32_t, kRows, kSteps>(context, p);
  if (type == DType::i32) return launch_typed_of<std::int32_t, std::int32_t, kRows, kSteps>(context, p);
  if (type == DType::f32) return launch_typed_of<float, float, kRows, kSteps>(context, p);
  if constexpr (kRows != OperandRows::flat) {
    if (type == DType::u64) return launch_typed_of<U64, std::int64_t, kRows, kSteps>(context, p);
    if (type == DType::i64) return launch_typed_of<std::int64_t, std::int64_t, kRows, kSteps>(context, p);
    return launch_typed_of<double, double, kRows, kSteps>(context, p);
  }
  throw Error(ErrorCode::launch, "elementwise: no flat output of this type");
}

/// Unaligned vectors have instances for bytes, for integers of 2 bytes, and for few instructions and
/// functions on f16 and bf16 (host/plan/elementwise/typed_kernel.cpp).
template <OperandRows kRows, Steps kSteps>
void launch_typed(const LaunchContext& context, const ElementwiseParams& p) {
  constexpr bool kCheap = kSteps == Steps::cheap, kUnaligned = kRows == OperandRows::unaligned;
  const DType type = p.tensor[0].type;
  if constexpr (kCheap) {
    if constexpr (!kUnaligned) {
      if (type != p.tensor[1].type) return launch_typed_pair<kRows>(context, p);
    }
    if (type == DType::bool_) return launch_typed_of<bool, bool, bool, std::int32_t, kRows>(context, p);
  }
  constexpr Steps kHalfSteps = kCheap || !kUnaligned ? kSteps : Steps::function;
  if (type == DType::f16) return launch_typed_of<f16, float, kRows, kHalfSteps>(context, p);
  if (type == DType::bf16) return launch_typed_of<bf16, float, kRows, kHalfSteps>(context, p);
  switch (type) {
    case DType::u8:
      return launch_typed_of<std::uint8_t, std::int32_t, kRows, kSteps>(context, p);
    case DType::i8:
      return launch_typed_of<std::int8_t, std::int32_t, kRows, kSteps>(context, p);
    case DType::u16:
      return launch_typed_of<std::uint16_t, std::int32_t, kRows, kSteps>(context, p);
    case DType::i16:
      return launch_typed_of<std::int16_t, std::int32_t, kRows, kSteps>(context, p);
    default:
      if constexpr (kUnaligned) {
        throw Error(ErrorCode::launch, "elementwise: no unaligned vectors of this type");
      } else {
        launch_typed_wide<kRows, kSteps>(context, p);
      }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
